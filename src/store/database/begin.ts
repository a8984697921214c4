import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "#kernel/clock.ts";
import type { Dialect, Session } from "#store/queries/session.ts";

/** The first and the longest pause between two attempts; each is twice the one before. */
const RETRY_MS = 1;
const RETRY_MS_MAX = 25;
const GIVE_UP_MS = 10_000;

/**
 * Starts a writing transaction. If another process holds the lock of the SQLite file, waits without blocking the thread.
 * PostgreSQL waits at the first lock, with its own timeout.
 */
export async function beginWriting(session: Session, dialect: Dialect, clock: Clock): Promise<void> {
  const giveUpAt = clock.monotonicMs() + GIVE_UP_MS;
  for (let retryMs = RETRY_MS; ; retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)) {
    try {
      await session.query(dialect.begin);
      return;
    } catch (error) {
      if (!dialect.isBusy(error) || clock.monotonicMs() >= giveUpAt) throw error;
      await delay(retryMs);
    }
  }
}
