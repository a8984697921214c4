import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Statement } from "#store/queries/session.ts";
import type { CommitListener, WrittenNames } from "#store/queries/written.ts";
import type { Postgres } from "./postgres.ts";

/** Tells processes on one database of each other's commits, so that they need not wait until they look. */
export interface CommitNews {
  /** Must run in the transaction that wrote this: others hear of it when it is committed. Null: nobody else can listen. */
  announcement(written: WrittenNames): Statement | null;
  close(): Promise<void>;
}

const CHANNEL = "selvedge_changes";
const RETRY_MS = 1_000;
/** The server takes 8,000 bytes. */
const PAYLOAD_CHARS_MAX = 4_000;

/**
 * PostgreSQL's NOTIFY. It is a hint: a connection that breaks, or a pooler that does not carry it, leaves everybody who listens to looks
 * at intervals.
 */
export function createCommitNews(listen: Postgres["listen"], heard: CommitListener): CommitNews {
  const own = randomBytes(8).toString("hex");
  const stopping = new AbortController();
  const hear = (payload: string): void => {
    const [from, ...names] = payload.split(" ");
    // A process of an older version does not say what it wrote.
    if (from !== own) heard(names.length === 0 ? undefined : new Set(names));
  };
  const run = async (): Promise<void> => {
    for (let isFirst = true; !stopping.signal.aborted; isFirst = false) {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      stopping.signal.addEventListener("abort", () => end(), { once: true });
      try {
        const connection = await listen(CHANNEL, (payload) => hear(payload), end);
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
    announcement: (written) => {
      const payload = [own, ...written].join(" ");
      return { sql: "SELECT pg_notify($1, $2)", parameters: [CHANNEL, payload.length > PAYLOAD_CHARS_MAX ? own : payload] };
    },
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
