import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { giveToOwner } from "./give-to-owner.ts";
import { isAlive, readRunFile } from "#app/operations/run-file.ts";

// https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;

/** Thrown if another server uses the same directory. */
export class DataDirectoryBusy extends Error {
  constructor(dataDir: string) {
    super(`another Selvedge is running on ${dataDir}${runningAs(dataDir)}: stop it, or give this one another directory with --data`);
    this.name = "DataDirectoryBusy";
  }
}

/** A server is named in its run file; a short command is not. */
function runningAs(dataDir: string): string {
  const run = readRunFile(dataDir);
  return run !== null && isAlive(run.pid) ? ` (process ${run.pid})` : "";
}

/**
 * Ensures that one server owns the directory. Uses SQLite's file lock: the kernel releases it when the process ends in
 * any way, so a kill -9 leaves no stale lock.
 */
export function lockDataDirectory(dataDir: string): { release(): void } {
  let db: DatabaseSync | null = null;
  try {
    makeDirectory(resolve(dataDir));
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    db = new DatabaseSync(join(dataDir, "lock.db"));
    giveToOwner(dataDir, ["lock.db"]);
    db.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) throw new DataDirectoryBusy(dataDir);
    throw new Error(`cannot keep state in ${dataDir}: ${reason(error as NodeJS.ErrnoException)}. Choose another directory with --data`, {
      cause: error,
    });
  }
  const held = db;
  return { release: () => held.close() };
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "its disk is full",
  EEXIST: "it is not a directory",
  ENOTDIR: "it is not a directory",
  ENOENT: "it cannot be created",
};

const reason = ({ code = "", message }: NodeJS.ErrnoException): string => REASONS[code] ?? message;

/** Creates it with its parents. Node's own recursion never ends if the system denies an existing directory, as /proc does. */
function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
