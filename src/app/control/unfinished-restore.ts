import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** In a data directory: files that a restore has not moved to their final names yet. */
export const RESTORE_DIRECTORY = ".restore";

/** Whether a restore into the directory has ended halfway, by a kill or a power failure. The database is the last file that it moves. */
export function hasUnfinishedRestore(dataDir: string): boolean {
  const path = join(dataDir, RESTORE_DIRECTORY);
  return existsSync(path) && readdirSync(path).length > 0 && !existsSync(join(dataDir, "control.db"));
}

/** Throws for such a directory: it has some files of an installation, and a start would create another installation among them. */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!hasUnfinishedRestore(dataDir)) return;
  throw new Error(
    `a restore into ${dataDir} ended halfway: run selvedge restore again with the same backup; or, to begin without it, remove the directory`,
  );
}
