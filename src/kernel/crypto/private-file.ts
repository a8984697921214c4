import { closeSync, openSync } from "node:fs";

/**
 * Creates an empty file with mode 0600 if none exists; leaves an existing one unchanged. SQLite would use the umask, and
 * gives a database's other files the mode of the database.
 */
export function createPrivately(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}
