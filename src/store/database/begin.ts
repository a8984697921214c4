import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "#kernel/clock.ts";
import type { Dialect, Session } from "#store/queries/session.ts";

const RETRY_MS = 25;
const GIVE_UP_MS = 10_000;

/**
 * Starts a writing transaction. If another process holds the lock of the SQLite file, waits without blocking the thread.
 * PostgreSQL waits at the first lock, with its own timeout.
 */
export async function beginWriting(session: Session, dialect: Dialect, clock: Clock): Promise<void> {
  const giveUpAt = clock.monotonicMs() + GIVE_UP_MS;
  for (;;) {
    try {
      await session.query(dialect.begin);
      return;
    } catch (error) {
      if (!dialect.isBusy(error) || clock.monotonicMs() >= giveUpAt) throw error;
      await delay(RETRY_MS);
    }
  }
}
