import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isDamaged } from "./repair.ts";

/** The events database beside its writer, opened with the first question and again when the writer has begun a new file. */
export interface EventConnection {
  /** Gives `empty` as long as the writer has not made the file and its tables. Throws `database_damaged`. */
  run<T>(empty: T, work: (open: DatabaseSync) => T): T;
  close(): void;
}

export function createEventConnection(path: string, open: () => DatabaseSync): EventConnection {
  let db: DatabaseSync | null = null;
  /** Of the open file. */
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

/** The file is there before its tables are, and for a moment a file of an older version may be. */
const MISSING = /^no such (table|column)/;
