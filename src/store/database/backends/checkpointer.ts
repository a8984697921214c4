import type { Session } from "#store/queries/session.ts";
import type { SqliteThread } from "./sqlite-thread.ts";

/** Copies SQLite's write-ahead log into the database file in a separate thread, so that writers do not wait for it. */
export interface Checkpointer {
  /** Call with the writing connection after each commit. */
  committed(session: Session): Promise<void>;
  /** False while so much waits to be copied that large changes should wait too. */
  readonly hasRoom: () => boolean;
  close(): Promise<void>;
}

/**
 * 32 MB. Each record changes many indexes, and a page that changes several times before a checkpoint is copied once: with
 * SQLite's default of 1000 pages, creating records took 50 % longer.
 */
const PAGES_MIN = 8_000;
/** Rounds per checkpoint: the log grows during each round, but little remains after a few. */
const ROUNDS_MAX = 8;
/** 64 MB. A log of this size is restarted; large changes wait while its last pages are copied. */
const LOG_PAGES_MAX = 16_000;
/** 192 MB. If readers or many small writes prevented the restart, the writer waits, and the file is truncated: 0.1 s or more. */
const LONG_LOG_PAGES = 48_000;
/** 4 MB, what a unit of a large change writes: the last pages. */
const LAST_PAGES_MAX = 1_024;
/** 96 MB that wait to be copied, because the disk is slow or a reader goes through the whole database. */
const WAITING_PAGES_MAX = 24_000;
/** Time until the next attempt then. */
const RETRY_MS = 50;
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
  /** Few pages remain, and without bulk units the log can soon be restarted. */
  let isCatchingUp = false;
  /** Few pages remain, and the log is so long that the writer waits. */
  let isLong = false;
  let idle: NodeJS.Timeout | null = null;
  let hasLog = false;
  let waitingPages = 0;
  let isClosed = false;

  const checkpoint = async (mode: "PASSIVE" | "TRUNCATE"): Promise<LogState> =>
    (await thread.query(`PRAGMA wal_checkpoint(${mode})`, [])).rows[0] as unknown as LogState;

  // A failure leaves the log as it is: the next commit tries again. If the log keeps growing, the writer checkpoints it
  // itself (sqlite.ts) and reports the error.
  const run = async (): Promise<void> => {
    try {
      for (let round = 0, before = 0; round < ROUNDS_MAX; round++) {
        const { log, checkpointed } = await checkpoint("PASSIVE");
        waitingPages = log - checkpointed;
        const isLast = log >= LOG_PAGES_MAX && waitingPages <= LAST_PAGES_MAX;
        isLong = isLast && log >= LONG_LOG_PAGES;
        // Nothing was copied, so all is, or a reader still needs what follows.
        if (checkpointed === before || isLong || (checkpointed >= log && !isLast)) return;
        before = checkpointed;
        // A sync of the file can take seconds on a busy disk: large changes wait meanwhile, and others go on.
        isCatchingUp = isLast;
      }
    } finally {
      isCatchingUp = false;
    }
  };
  const hasRoom = (): boolean => !isCatchingUp && waitingPages <= WAITING_PAGES_MAX;
  const alone = (work: () => Promise<unknown>): Promise<void> =>
    (running = work()
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        running = null;
        // Without commits nobody else would look.
        if (!hasRoom() && !isClosed) setTimeout(() => void ((running ?? isClosed) ? null : alone(run)), RETRY_MS).unref();
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
      if (isLong) {
        isLong = false;
        await alone(() => checkpoint("TRUNCATE"));
        return;
      }
      // Only reads the state (since SQLite 3.51).
      const { rows } = await session.query("PRAGMA wal_checkpoint(NOOP)");
      const { log, checkpointed } = rows[0] as unknown as LogState;
      waitingPages = log - checkpointed;
      if (waitingPages < PAGES_MIN) return;
      void alone(run);
    },
    hasRoom,
    close: async () => {
      isClosed = true;
      if (idle) clearTimeout(idle);
      await running;
      await thread.close();
    },
  };
}
