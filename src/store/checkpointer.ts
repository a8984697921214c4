import type { Session } from "./session.ts";
import type { SqliteThread } from "./sqlite-thread.ts";

/**
 * Moves what was written from SQLite's log into its file, in a thread of its own: in the writer's, everybody would
 * wait for it.
 */
export interface Checkpointer {
  /** To be called with the writing connection after each commit. */
  committed(session: Session): Promise<void>;
  close(): Promise<void>;
}

/**
 * 32 MB. Each record touches many indexes, and pages that are written again before they leave the log are written
 * once: at SQLite's default of 1000 pages, creating records took half as long again.
 */
const PAGES_MIN = 8_000;
/** While one round is under way the log grows; a few rounds later nothing is left, and the log begins anew. */
const ROUNDS_MAX = 8;

/** How many pages the log holds, and how many of them are in the file as well. */
interface LogState {
  readonly log: number;
  readonly checkpointed: number;
}

export function createCheckpointer(thread: SqliteThread): Checkpointer {
  let running: Promise<void> | null = null;

  // Failures leave the log as it is: the next commit tries again, and a log that grows on is the writer's own to
  // checkpoint (sqlite.ts), which reports what is wrong.
  const run = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const { rows } = await thread.query("PRAGMA wal_checkpoint(PASSIVE)", []);
      if (isDone(rows[0] as unknown as LogState)) return;
    }
  };

  return {
    committed: async (session) => {
      if (running) return;
      // Only looks (since SQLite 3.51).
      const { rows } = await session.query("PRAGMA wal_checkpoint(NOOP)");
      const { log, checkpointed } = rows[0] as unknown as LogState;
      if (log - checkpointed < PAGES_MIN) return;
      running = run()
        .catch(() => {})
        .finally(() => {
          running = null;
        });
    },
    close: async () => {
      await running;
      await thread.close();
    },
  };
}

const isDone = ({ log, checkpointed }: LogState): boolean => checkpointed >= log;
