import { closeSync, openSync } from "node:fs";

/**
 * Makes an empty file that only its owner may read, where there is none. SQLite would leave that to the umask, and gives the files
 * beside a database the mode of the database. One that is there stays as it is.
 */
export function createPrivately(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}
