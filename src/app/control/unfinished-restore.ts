import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** In a data directory: files of a restore that has not moved them to their places yet. */
export const RESTORE_DIRECTORY = ".restore";

/** Whether a restore into the directory has ended halfway, by a kill or a power failure. The database is the last file that it moves. */
export function hasUnfinishedRestore(dataDir: string): boolean {
  const path = join(dataDir, RESTORE_DIRECTORY);
  return existsSync(path) && readdirSync(path).length > 0 && !existsSync(join(dataDir, "control.db"));
}

/** Throws for such a directory: it holds some of the files of an installation, and another one would be begun among them. */
export function refuseUnfinishedRestore(dataDir: string): void {
  if (!hasUnfinishedRestore(dataDir)) return;
  throw new Error(
    `a restore into ${dataDir} ended halfway: run selvedge restore again with the same backup; or, to begin without it, remove the directory`,
  );
}
