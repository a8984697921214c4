import { pino, type Logger } from "pino";
import type { LogArea } from "#app/config/log-areas.ts";
import { createLogStream, type LogStream } from "./log-stream.ts";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "child">;

export interface LogLevels {
  readonly level: string;
  /** Levels of areas that differ from `level`. */
  readonly levels: Readonly<Partial<Record<LogArea, string>>>;
}

/** A log with changeable levels. */
export interface LeveledLog extends Log {
  /** Also changes the logs of areas. */
  use(levels: LogLevels): void;
  /** The lines of one area; the same log each time. */
  area(name: LogArea): Log;
}

const STANDARD_ERROR = 2;

/**
 * Logs go to standard error as JSON lines; standard output is for the ready line (DESIGN.md §4). Callers log identifiers
 * and outcomes, never bodies; `redact` is a second safeguard.
 */
export function createLog(first: LogLevels, stream: LogStream = createLogStream(STANDARD_ERROR)): LeveledLog {
  let { level, levels } = first;
  const root = pino(
    { level, redact: { paths: ["token", "*.token", "authorization", "*.authorization", "headers", "*.headers"], censor: "[redacted]" } },
    stream,
  );
  const areas = new Map<LogArea, Logger>();
  return Object.assign(root as Log, {
    use: (next: LogLevels) => {
      ({ level, levels } = next);
      root.level = level;
      for (const [name, log] of areas) log.level = levels[name] ?? level;
    },
    area: (name: LogArea) => {
      const known = areas.get(name) ?? root.child({}, { level: levels[name] ?? level });
      areas.set(name, known);
      return known;
    },
  });
}

/** The log of an area, where the log distinguishes areas. */
export const logOf = (log: Log, area: LogArea | undefined): Log =>
  area !== undefined && "area" in log ? (log as LeveledLog).area(area) : log;
