import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "#kernel/clock.ts";
import { type Dialect, queryTogether, type Rows, type Session, type Statement } from "#store/queries/session.ts";

/** The first and the longest pause between two attempts; each is twice the one before. */
const RETRY_MS = 1;
const RETRY_MS_MAX = 25;
const GIVE_UP_MS = 10_000;

/**
 * Starts a writing transaction with these first statements, and returns the rows of the last one. If another process holds the lock of the SQLite file, waits without blocking the thread.
 * PostgreSQL waits at the first lock, with its own timeout.
 */
export async function beginWriting(session: Session, dialect: Dialect, clock: Clock, ...first: readonly Statement[]): Promise<Rows> {
  const giveUpAt = clock.monotonicMs() + GIVE_UP_MS;
  for (let retryMs = RETRY_MS; ; retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)) {
    try {
      return await queryTogether(session, [{ sql: dialect.begin }, ...first]);
    } catch (error) {
      if (!dialect.isBusy(error) || clock.monotonicMs() >= giveUpAt) throw error;
      await delay(retryMs);
    }
  }
}
