import { pino, type Logger } from "pino";
import { createLogStream } from "./log-stream.ts";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "child">;

/** A log with a changeable level. */
export type LeveledLog = Log & Pick<Logger, "level">;

const STANDARD_ERROR = 2;

/**
 * Logs go to standard error as JSON lines; standard output is for the ready line (DESIGN.md §4). Callers log identifiers
 * and outcomes, never bodies; `redact` is a second safeguard.
 */
export const createLog = (level: string): LeveledLog =>
  pino(
    { level, redact: { paths: ["token", "*.token", "authorization", "*.authorization", "headers", "*.headers"], censor: "[redacted]" } },
    createLogStream(STANDARD_ERROR),
  );
