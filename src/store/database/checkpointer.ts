import type { Session } from "#store/queries/session.ts";
import type { SqliteThread } from "./sqlite-thread.ts";

/** Copies SQLite's write-ahead log into the database file in a separate thread, so that writers do not wait for it. */
export interface Checkpointer {
  /** Call with the writing connection after each commit. */
  committed(session: Session): Promise<void>;
  close(): Promise<void>;
}

/**
 * 32 MB. Each record changes many indexes, and a page that changes several times before a checkpoint is copied once: with
 * SQLite's default of 1000 pages, creating records took 50 % longer.
 */
const PAGES_MIN = 8_000;
/** Rounds per checkpoint: the log grows during each round, but little remains after a few. */
const ROUNDS_MAX = 8;
/** 64 MB. A log of this size is restarted; the writer waits while its last pages are copied. */
const LOG_PAGES_MAX = 16_000;
/** 128 MB. If long-running readers prevented the restart, the log file is also truncated. */
const LONG_LOG_PAGES = 32_000;
/** 2 MB, some milliseconds: the most that the writer waits for. */
const LAST_PAGES_MAX = 512;
/** Time after the last commit before the whole log is copied and truncated. */
const IDLE_MS = 1_000;

/** Pages in the log, and how many of them are also in the file; -1 if unknown. */
interface LogState {
  /** Not 0 if a reader or writer prevented the checkpoint. */
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

export function createCheckpointer(thread: SqliteThread): Checkpointer {
  let running: Promise<void> | null = null;
  /** So few pages remain that the writer waits briefly, and the log can be restarted. */
  let isNearEnd = false;
  let isLong = false;
  let idle: NodeJS.Timeout | null = null;
  let hasLog = false;

  const checkpoint = async (mode: "PASSIVE" | "TRUNCATE"): Promise<LogState> =>
    (await thread.query(`PRAGMA wal_checkpoint(${mode})`, [])).rows[0] as unknown as LogState;

  // A failure leaves the log as it is: the next commit tries again. If the log keeps growing, the writer checkpoints it
  // itself (sqlite.ts) and reports the error.
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
  /** At this point few pages remain, so a writer waits no longer than truncating the file takes. */
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
      // Only reads the state (since SQLite 3.51).
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
