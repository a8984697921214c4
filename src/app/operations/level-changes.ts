import type { Clock } from "#kernel/clock.ts";
import type { LogPart } from "#app/config/log-areas.ts";
import type { LeveledLog } from "#app/log/log.ts";
import { type LevelOutcome, type LevelRequest, removeLevelRequest, type ShownLevel, takeLevelRequest } from "./level-request.ts";

export interface LevelChangesDeps {
  readonly dataDir: string;
  readonly log: LeveledLog;
  readonly clock: Pick<Clock, "nowMs">;
  /** Called with the answer to each request. */
  onDone(outcome: LevelOutcome): void;
}

export interface LevelChanges {
  /** Answers the request that waits, if any. Never throws. */
  take(): void;
  /** Another process takes over, or none: requests are not taken any more. */
  close(): void;
}

/** A level that `selvedge log level` has set. */
interface Held {
  /** Null: until the process ends. */
  readonly untilMs: number | null;
  readonly timer: NodeJS.Timeout | undefined;
}

/** Log levels of areas that hold for a time, or until the process ends, above the configured ones. */
export function createLevelChanges({ dataDir, log, clock, onDone }: LevelChangesDeps): LevelChanges {
  const held = new Map<LogPart, Held>();
  let isClosed = false;

  const drop = (area: LogPart): void => {
    clearTimeout(held.get(area)?.timer);
    held.delete(area);
    log.override(area, null);
  };
  const hold = (area: LogPart, level: string, forMs: number | null): void => {
    clearTimeout(held.get(area)?.timer);
    const giveBack = (): void => {
      drop(area);
      log.info({ area }, "the time is over: the configured log level is in force again");
    };
    held.set(area, {
      untilMs: forMs === null ? null : clock.nowMs() + forMs,
      timer: forMs === null ? undefined : setTimeout(giveBack, forMs).unref(),
    });
    log.override(area, level);
  };
  const apply = ({ changes, for_ms }: LevelRequest): void => {
    if (changes.length === 0) return;
    const levels = Object.fromEntries(changes.map(({ area, level }) => [area, level ?? "configured"]));
    // With the levels before, so that silence announces itself.
    log.warn({ levels, for_seconds: for_ms === null ? null : for_ms / 1000 }, "log levels are changed by selvedge log level");
    for (const { area, level } of changes)
      if (level === null) drop(area);
      else hold(area, level, for_ms);
  };
  const untilOf = (area: LogPart): ShownLevel["until"] => {
    const level = held.get(area);
    if (level === undefined) return null;
    return level.untilMs === null ? "restart" : new Date(level.untilMs).toISOString();
  };

  // From a command that the process before has not answered.
  removeLevelRequest(dataDir);
  return {
    take: () => {
      if (isClosed) return;
      try {
        const request = takeLevelRequest(dataDir);
        if (request === null) return;
        apply(request);
        onDone({ id: request.id, levels: log.partLevels().map((level) => ({ ...level, until: untilOf(level.area) })) });
      } catch (error) {
        log.error({ err: error }, "a request of selvedge log level was not carried out");
      }
    },
    close: () => {
      isClosed = true;
      for (const { timer } of held.values()) clearTimeout(timer);
    },
  };
}
