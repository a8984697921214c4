import { setTimeout as delay } from "node:timers/promises";
import { adjustableClock, type Clock } from "#kernel/clock.ts";
import { databaseNowMs } from "#store/database/database-time.ts";
import type { Store } from "#store/database/store.ts";
import type { Log } from "#app/log/log.ts";

/**
 * The clock of control. Servers that share a PostgreSQL database use its time, so that expiries, serials, timestamps
 * and the age of pending work are the same on all of them, whatever their machines' clocks show (ADR 0246). A database
 * file belongs to one server, which uses its own clock.
 */
export interface DatabaseClock {
  readonly clock: Clock;
  /** Call before anything is written; follows the database's time from then on. */
  follow(store: Store): Promise<void>;
  close(): Promise<void>;
}

const EVERY_MS = 10_000;
/** Machines whose clocks are synchronized differ by less; their own clocks are as good as an answer over the network. */
const TOLERANCE_MS = 500;
/** The fastest response is the most precise. */
const TRIES = 3;

export function createDatabaseClock(base: Clock, log: Log): DatabaseClock {
  const clock = adjustableClock(base);
  const stop = new AbortController();
  let followed: Store | null = null;
  let following: Promise<void> | null = null;

  const look = async (store: Store): Promise<void> => {
    let best: { readonly tookMs: number; readonly offsetMs: number } | null = null;
    for (let i = 0; i < TRIES; i++) {
      const [asked, askedWall] = [base.monotonicMs(), base.nowMs()];
      const thereMs = await databaseNowMs(store);
      const tookMs = base.monotonicMs() - asked;
      if (best === null || tookMs < best.tookMs) best = { tookMs, offsetMs: Math.round(thereMs - askedWall - tookMs / 2) };
    }
    // The answer may have been made at any moment while it was waited for.
    if (best === null || Math.abs(best.offsetMs - clock.offsetMs()) < TOLERANCE_MS + best.tookMs) return;
    clock.setOffset(Math.abs(best.offsetMs) < TOLERANCE_MS ? 0 : best.offsetMs);
    const fields = { offset_seconds: best.offsetMs / 1000 };
    if (clock.offsetMs() === 0) log.info(fields, "the clock of this machine agrees with the database's again");
    else log.warn(fields, "the clock of this machine differs from the database's, which the API and jobs use; synchronize it");
  };

  const run = async (): Promise<void> => {
    for (;;) {
      await delay(EVERY_MS, undefined, { signal: stop.signal, ref: false });
      // While the database is away, the last offset is the best there is.
      if (followed !== null) await look(followed).catch(() => undefined);
    }
  };

  return {
    clock,
    follow: async (store) => {
      if (store.dialect !== "postgres") return;
      await look(store);
      // A database that was refused may be opened again.
      followed = store;
      following ??= run().catch(() => undefined);
    },
    close: async () => {
      stop.abort();
      await following;
    },
  };
}
