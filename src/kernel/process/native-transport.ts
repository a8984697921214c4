/** What is carried by system calls of our own where koffi loads, and by Node.js elsewhere. */
export type NativePart = "datagrams" | "connections" | "tls";

/** Told why Node.js carries one of them: everything works, at a lower speed. */
export type OnMissing = (part: NativePart, reason: string) => void;

/** The values of system calls are known for these (`process.platform`, `process.arch`). */
export const unknownPlatform = (): string => `the system calls of ${process.platform} on ${process.arch} are not known`;

/** The first line of an error: where a module was looked for takes ten. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
