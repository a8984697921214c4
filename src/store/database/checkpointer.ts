import type { Session } from "#store/queries/session.ts";
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
/** While one round is under way the log grows; a few rounds later little is left. */
const ROUNDS_MAX = 8;
/** 64 MB. A log of so many begins anew, for which the writer waits once, until its last pages are in the file. */
const LOG_PAGES_MAX = 16_000;
/** 128 MB. Readers of a moment that is long ago have kept it from beginning anew: its room goes back to the disk as well. */
const LONG_LOG_PAGES = 32_000;
/** 2 MB, some milliseconds: as much as the writer waits for. */
const LAST_PAGES_MAX = 512;
/** After the last commit the whole log goes into the file and its room back to the disk. */
const IDLE_MS = 1_000;

/** How many pages the log holds, and how many of them are in the file as well; -1 where it could not be looked at. */
interface LogState {
  /** Not 0 where a reader or a writer stood in the way. */
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

export function createCheckpointer(thread: SqliteThread): Checkpointer {
  let running: Promise<void> | null = null;
  /** So little is left that the writer's wait for it is short: then it begins the log anew. */
  let isNearEnd = false;
  let isLong = false;
  let idle: NodeJS.Timeout | null = null;
  let hasLog = false;

  const checkpoint = async (mode: "PASSIVE" | "TRUNCATE"): Promise<LogState> =>
    (await thread.query(`PRAGMA wal_checkpoint(${mode})`, [])).rows[0] as unknown as LogState;

  // Failures leave the log as it is: the next commit tries again, and a log that grows on is the writer's own to
  // checkpoint (sqlite.ts), which reports what is wrong.
  const run = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const { log, checkpointed } = await checkpoint("PASSIVE");
      isNearEnd = log >= LOG_PAGES_MAX && log - checkpointed <= LAST_PAGES_MAX;
      isLong = log >= LONG_LOG_PAGES;
      if (checkpointed >= log || isNearEnd) return;
    }
  };
  const alone = (work: () => Promise<unknown>): Promise<void> =>
    (running = work()
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        running = null;
      }));
  /** What is left is little or nothing by then, and who writes meanwhile waits no longer than the file takes to be cut. */
  const giveBack = (): void => {
    idle = null;
    if (running || !hasLog) return;
    void alone(async () => {
      await run();
      const { busy, log } = await checkpoint("TRUNCATE");
      hasLog = busy !== 0 || log > 0;
    });
  };
  const giveBackWhenIdle = (): void => {
    hasLog = true;
    if (idle) idle.refresh();
    else idle = setTimeout(giveBack, IDLE_MS).unref();
  };

  return {
    committed: async (session) => {
      giveBackWhenIdle();
      if (running) return;
      if (isNearEnd) {
        isNearEnd = false;
        await alone(() => checkpoint(isLong ? "TRUNCATE" : "PASSIVE"));
        return;
      }
      // Only looks (since SQLite 3.51).
      const { rows } = await session.query("PRAGMA wal_checkpoint(NOOP)");
      const { log, checkpointed } = rows[0] as unknown as LogState;
      if (log - checkpointed < PAGES_MIN) return;
      void alone(run);
    },
    close: async () => {
      if (idle) clearTimeout(idle);
      await running;
      await thread.close();
    },
  };
}
