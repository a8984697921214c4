import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { lockDataDirectory } from "#app/control/data-lock.ts";

/** A temporary directory for the files that a backup needs until it is written. */
export interface WorkDirectory {
  readonly path: string;
  remove(): void;
}

const PREFIX = ".selvedge-backup-";

/**
 * Creates one in `parent`, which it creates if needed. It is deleted with the process; one that a killed process left
 * behind, with copies of databases and their secrets, is deleted here by the next backup.
 */
export function makeWorkDirectory(parent: string): WorkDirectory {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  removeAbandoned(parent);
  const path = mkdtempSync(join(parent, PREFIX));
  const removeFiles = (): void => rmSync(path, { recursive: true, force: true });
  // The kernel releases the lock however the process ends.
  const lock = lockOrRemove(path, removeFiles);
  process.once("exit", removeFiles);
  return {
    path,
    remove: () => {
      process.off("exit", removeFiles);
      lock.release();
      removeFiles();
    },
  };
}

/** Without its lock nobody would delete it later. */
function lockOrRemove(path: string, removeFiles: () => void): ReturnType<typeof lockDataDirectory> {
  try {
    return lockDataDirectory(path);
  } catch (error) {
    removeFiles();
    // The error of the system, which says whether the disk is full.
    throw (error as Error).cause ?? error;
  }
}

function removeAbandoned(parent: string): void {
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith(PREFIX)) continue;
    const path = join(parent, entry.name);
    if (isOurs(path) && !isLocked(path)) rmSync(path, { recursive: true, force: true });
  }
}

/** The directory may be writable by everybody. */
function isOurs(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  // One without its lock is being made at this moment.
  return stat?.uid === process.getuid?.() && existsSync(join(path, "lock.db"));
}

function isLocked(path: string): boolean {
  try {
    lockDataDirectory(path).release();
    return false;
  } catch {
    return true;
  }
}
