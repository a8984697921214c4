import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

// https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;

/** Thrown when another server works on the same directory. */
export class DataDirectoryBusy extends Error {
  constructor(dataDir: string) {
    super(`another Selvedge is running on ${dataDir}: stop it, or give this one another directory with --data`);
    this.name = "DataDirectoryBusy";
  }
}

/**
 * Makes sure that one server owns the directory. SQLite's file lock serves: the kernel lets go of it when the process
 * ends in whatever way, so nothing stale stays behind a kill -9.
 */
export function lockDataDirectory(dataDir: string): { release(): void } {
  let db: DatabaseSync | null = null;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    db = new DatabaseSync(join(dataDir, "lock.db"));
    db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) throw new DataDirectoryBusy(dataDir);
    throw new Error(`cannot keep state in ${dataDir}: ${(error as Error).message}`, { cause: error });
  }
  const held = db;
  return { release: () => held.close() };
}
