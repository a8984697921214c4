import type { PlatformError } from "#kernel/errors/errors.ts";
import type { Session } from "#store/queries/session.ts";
import { unavailable } from "./unit.ts";

/** Syncs of SQLite's log: a COMMIT does not wait for the disk, and another thread waits for it afterwards. */
export interface LogSyncs {
  /** Runs a COMMIT. From then on `done` waits for the next `run`. */
  commit(connection: Session, commit: () => Promise<unknown>): Promise<void>;
  /** Resolves when the connection's commits are on disk; other threads wait for the disk. */
  run(connection: Session): Promise<void>;
  /** Resolves when every commit is on disk. Rejects if the last sync failed. */
  done(): Promise<void>;
  /** Call before a transaction: what follows a commit in the log that may not be on disk is lost with it at a power cut. */
  settle(connection: Session): Promise<void>;
}

/** The statement before transactions whose COMMIT does not wait for the disk. */
export const SYNC_LATER = "PRAGMA synchronous = NORMAL";

export function createLogSyncs(): LogSyncs {
  /** Resolves after the sync of all commits so far; null if all are on disk, or in doubt. */
  let waiting: PromiseWithResolvers<void> | null = null;
  let isInDoubt = false;
  const end = (): void => {
    waiting?.resolve();
    waiting = null;
  };

  return {
    commit: async (connection, commit) => {
      const isFirst = waiting === null;
      // Readers see the commit before its caller goes on.
      if (connection.synced) waiting ??= Promise.withResolvers();
      try {
        await commit();
      } catch (error) {
        if (isFirst) end();
        throw error;
      }
    },
    run: async (connection) => {
      try {
        await connection.synced?.();
      } catch (error) {
        isInDoubt = true;
        throw error;
      } finally {
        end();
      }
    },
    done: async () => {
      await waiting?.promise;
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
