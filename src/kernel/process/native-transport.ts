/** Parts of the transport that use native system calls if koffi loads, and Node.js otherwise. */
export type NativePart = "datagrams" | "connections" | "tls";

/** Called with the reason why a part uses Node.js: everything works, but slower. */
export type OnMissing = (part: NativePart, reason: string) => void;

/** System call constants exist only for some platforms (`process.platform`, `process.arch`). */
export const unknownPlatform = (): string => `the system calls of ${process.platform} on ${process.arch} are not known`;

/** The first line of an error: a failed module lookup has ten. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
