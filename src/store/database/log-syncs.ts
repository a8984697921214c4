import type { PlatformError } from "#kernel/errors/errors.ts";
import type { Session } from "#store/queries/session.ts";
import { unavailable } from "./unit.ts";

/** Syncs of SQLite's log after commits that did not wait for the disk themselves. */
export interface LogSyncs {
  /** Resolves when the connection's commits are on disk; other threads wait for the disk. */
  run(connection: Session): Promise<void>;
  /** Resolves when no sync is under way. Rejects if the last one failed. */
  done(): Promise<void>;
  /** Call before a transaction: what follows a commit in the log that may not be on disk is lost with it at a power cut. */
  settle(connection: Session): Promise<void>;
}

/** Statements before a transaction whose COMMIT does not wait for the disk, and before the next usual one. */
export const SYNC = { later: "PRAGMA synchronous = NORMAL", atCommit: "PRAGMA synchronous = FULL" } as const;

export function createLogSyncs(): LogSyncs {
  let running: Promise<void> | null = null;
  let isInDoubt = false;

  return {
    run: async (connection) => {
      running = connection.synced?.() ?? null;
      try {
        await running;
      } catch (error) {
        isInDoubt = true;
        throw error;
      } finally {
        running = null;
      }
    },
    done: async () => {
      await running;
      if (isInDoubt) throw inDoubt();
    },
    settle: async (connection) => {
      if (!isInDoubt) return;
      // The system reports a failed write of the log once. Its pages may still be in memory, from where they are copied into the file.
      const { rows } = await connection.query("PRAGMA wal_checkpoint(TRUNCATE)");
      if (rows[0]?.["busy"] !== 0) throw inDoubt();
      isInDoubt = false;
    },
  };
}

const inDoubt = (): PlatformError => unavailable("the disk did not take what was committed");
