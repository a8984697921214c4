import { pino, type Logger } from "pino";
import { type Clock, isoMicros, systemClock } from "#kernel/clock.ts";
import { LOG_PARTS, type LogArea, type LogPart } from "#app/config/log-areas.ts";
import { createLogStream, type LogStream } from "./log-stream.ts";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "child">;

export interface LogLevels {
  readonly level: string;
  /** Levels of areas that differ from `level`. */
  readonly levels: Readonly<Partial<Record<LogArea, string>>>;
}

/** A log with changeable levels. */
export interface LeveledLog extends Log {
  /** Puts these configured levels in force, for areas too; overrides stay above them. */
  use(levels: LogLevels): void;
  /** Sets the level of a part until it is set again; with null, the configured one returns. */
  override(part: LogPart, level: string | null): void;
  /** The levels of all parts. */
  partLevels(): readonly PartLevel[];
  /** The lines of one area; the same log each time. */
  area(name: LogArea): Log;
  /** The newest errors, oldest first. */
  lastErrors(): readonly LoggedError[];
}

interface PartLevel {
  readonly area: LogPart;
  /** In force. */
  readonly level: string;
  readonly configured: string;
}

export interface LoggedError {
  readonly time: string;
  readonly message: string;
}

const STANDARD_ERROR = 2;
const LAST_ERRORS = 5;
const MESSAGE_LENGTH_MAX = 300;
/** https://getpino.io/#/docs/api?id=logger-level */
const ERROR_LEVEL = 50;

/**
 * Logs go to standard error as JSON lines; standard output is for the ready line (DESIGN.md §4). Callers log identifiers
 * and outcomes, never bodies; `redact` is a second safeguard.
 */
export function createLog(
  first: LogLevels,
  stream: LogStream = createLogStream(STANDARD_ERROR),
  clock: Pick<Clock, "nowMicros"> = systemClock,
): LeveledLog {
  let { level, levels } = first;
  const errors: LoggedError[] = [];
  const keep = (args: readonly unknown[], time: string): void => {
    errors.push({ time, message: messageOf(args).slice(0, MESSAGE_LENGTH_MAX) });
    if (errors.length > LAST_ERRORS) errors.shift();
  };
  const root = pino(
    {
      level,
      hooks: {
        logMethod(args, method, lineLevel) {
          if (lineLevel >= ERROR_LEVEL) keep(args, isoMicros(clock.nowMicros()));
          method.apply(this, args);
        },
      },
      redact: { paths: ["token", "*.token", "authorization", "*.authorization", "headers", "*.headers"], censor: "[redacted]" },
    },
    stream,
  );
  const areas = new Map<LogArea, Logger>();
  const overrides = new Map<LogPart, string>();
  const configuredOf = (part: LogPart): string => (part === "other" ? level : (levels[part] ?? level));
  const levelOf = (part: LogPart): string => overrides.get(part) ?? configuredOf(part);
  const apply = (): void => {
    root.level = levelOf("other");
    for (const [name, log] of areas) log.level = levelOf(name);
  };
  return Object.assign(root as Log, {
    use: (next: LogLevels) => {
      ({ level, levels } = next);
      apply();
    },
    override: (part: LogPart, wanted: string | null) => {
      if (wanted === null) overrides.delete(part);
      else overrides.set(part, wanted);
      apply();
    },
    partLevels: () => LOG_PARTS.map((area) => ({ area, level: levelOf(area), configured: configuredOf(area) })),
    area: (name: LogArea) => {
      const known = areas.get(name) ?? root.child({}, { level: levelOf(name) });
      areas.set(name, known);
      return known;
    },
    lastErrors: () => [...errors],
  });
}

/** The text of a line, with that of its error. */
function messageOf(args: readonly unknown[]): string {
  const text = args.find((each) => typeof each === "string") ?? "";
  const { err } = ((typeof args[0] === "object" ? args[0] : null) ?? {}) as { readonly err?: unknown };
  return err instanceof Error ? `${text}: ${err.message}` : String(text);
}

/** The log of an area, where the log distinguishes areas. */
export const logOf = (log: Log, area: LogArea | undefined): Log =>
  area !== undefined && "area" in log ? (log as LeveledLog).area(area) : log;
