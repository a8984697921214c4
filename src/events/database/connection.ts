import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isDamaged } from "./repair.ts";

/**
 * A second connection to the events database beside its writer, opened at the first query and again when the writer has
 * started a new file.
 */
export interface EventConnection {
  /** Returns `empty` until the writer has made the file and its tables. Throws `database_damaged`. */
  run<T>(empty: T, work: (open: DatabaseSync) => T): T;
  close(): void;
}

export function createEventConnection(path: string, open: () => DatabaseSync): EventConnection {
  let db: DatabaseSync | null = null;
  /** Inode of the open file. */
  let inode = 0;
  const close = (): void => {
    db?.close();
    db = null;
  };
  const reopen = (): DatabaseSync => {
    close();
    const opened = open();
    inode = statSync(path).ino;
    return (db = opened);
  };
  return {
    run: (empty, work) => {
      const file = statSync(path, { throwIfNoEntry: false });
      if (file === undefined) return empty;
      try {
        return work(db !== null && file.ino === inode ? db : reopen());
      } catch (error) {
        if (isDamaged(error)) throw new PlatformError("database_damaged", { cause: error });
        if (!(error instanceof Error) || !MISSING.test(error.message)) throw error;
        return empty;
      }
    },
    close,
  };
}

/** The file exists before its tables do, and for a moment it may be a file of an older version. */
const MISSING = /^no such (table|column)/;
