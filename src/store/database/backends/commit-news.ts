import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Postgres } from "./postgres.ts";

/** Tells processes on one database of each other's commits, so that they need not wait until they look. */
export interface CommitNews {
  /** Must run in the transaction: others hear of it when it is committed. Null: nobody else can listen. */
  readonly announcement: string | null;
  close(): Promise<void>;
}

const CHANNEL = "selvedge_changes";
const RETRY_MS = 1_000;

/**
 * PostgreSQL's NOTIFY. It is a hint: a connection that breaks, or a pooler that does not carry it, leaves everybody who listens to looks
 * at intervals.
 */
export function createCommitNews(listen: Postgres["listen"], heard: () => void): CommitNews {
  const own = randomBytes(8).toString("hex");
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    for (let isFirst = true; !stopping.signal.aborted; isFirst = false) {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      stopping.signal.addEventListener("abort", () => end(), { once: true });
      try {
        const connection = await listen(CHANNEL, (payload) => payload !== own && heard(), end);
        // Finds commits from the time when nobody listened; at first, everybody looks anyway.
        if (!isFirst) heard();
        await ended;
        await connection.close();
      } catch {
        // The database is away, which its users report.
      }
      await delay(RETRY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    announcement: `NOTIFY ${CHANNEL}, '${own}'`,
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
