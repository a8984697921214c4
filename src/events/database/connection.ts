import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { PlatformError } from "#kernel/errors/errors.ts";
import { fileIdentity, type FileIdentity, hasForeignLog, isSameFile } from "./file-identity.ts";
import { isDamaged } from "./repair.ts";

/**
 * A second connection to the events database beside its writer, opened at the first query and again when the writer has
 * started a new file, or somebody has put another one in its place.
 */
export interface EventConnection {
  /** Returns `empty` until the writer has made the file and its tables. Throws `database_damaged`. */
  run<T>(empty: T, work: (open: DatabaseSync) => T): T;
  close(): void;
}

export function createEventConnection(path: string, open: () => DatabaseSync): EventConnection {
  let db: DatabaseSync | null = null;
  /** Of the open files. */
  let identity: FileIdentity | null = null;
  const close = (): void => {
    db?.close();
    db = null;
  };
  const reopen = (): DatabaseSync => {
    close();
    const opened = open();
    identity = fileIdentity(path);
    return (db = opened);
  };
  return {
    run: (empty, work) => {
      if (!existsSync(path)) return empty;
      const now = fileIdentity(path);
      // The writer removes that log in a moment.
      if (identity !== null && hasForeignLog(identity, now)) {
        close();
        return empty;
      }
      try {
        return work(db !== null && identity !== null && isSameFile(now, identity) ? db : reopen());
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
