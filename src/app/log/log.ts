import { pino, type Logger } from "pino";
import { createLogStream } from "./log-stream.ts";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "child">;

/** A log whose level can be changed. */
export type LeveledLog = Log & Pick<Logger, "level">;

const STANDARD_ERROR = 2;

/**
 * Logs go to standard error as JSON lines; standard output belongs to the ready line (DESIGN.md §4).
 * Call sites log identifiers and outcomes, never bodies; `redact` is the second lock on the door.
 */
export const createLog = (level: string): LeveledLog =>
  pino(
    { level, redact: { paths: ["token", "*.token", "authorization", "*.authorization", "headers", "*.headers"], censor: "[redacted]" } },
    createLogStream(STANDARD_ERROR),
  );
