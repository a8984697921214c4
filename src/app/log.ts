import { pino, type Logger } from "pino";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "child">;

/**
 * Logs go to standard error as JSON lines; standard output belongs to the ready line (DESIGN.md §4).
 * Call sites log identifiers and outcomes, never bodies; `redact` is the second lock on the door.
 */
export const createLog = (level: string): Log =>
  pino(
    { level, redact: { paths: ["token", "*.token", "authorization", "*.authorization", "headers", "*.headers"], censor: "[redacted]" } },
    pino.destination({ dest: 2, sync: false }),
  );
