import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";

/** Parts of the program that use native system calls if koffi loads, and otherwise Node.js or nothing. */
export type NativePart = "datagrams" | "connections" | "tls" | "time_slices" | "memory";

/** Called with the reason why a part does not use native system calls: everything works, but slower. */
export type OnMissing = (part: NativePart, reason: string) => void;

/** `runtime.native`. */
export type NativeMode = "auto" | "off";

const MODE = "selvedge.runtime.native";

/** Applies to this thread and to the threads that it starts from now on. */
export const setNativeMode = (mode: NativeMode): void => setEnvironmentData(MODE, mode);

export const nativeMode = (): NativeMode => (getEnvironmentData(MODE) === "off" ? "off" : "auto");

/** The reason in mode "off". */
export const TURNED_OFF = "runtime.native is off";

/** System call constants exist only for some platforms (`process.platform`, `process.arch`). */
export const unknownPlatform = (): string => `the system calls of ${process.platform} on ${process.arch} are not known`;

/** The first line of an error: a failed module lookup has ten. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
