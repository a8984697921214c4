import { statSync } from "node:fs";
import { PlatformError } from "#kernel/errors/errors.ts";

/**
 * Tells whether the files of an open SQLite database still have their names. What is written to files that were
 * replaced or removed is lost with the process (https://www.sqlite.org/howtocorrupt.html §2.4, §4.1; ADR 0215).
 */
export interface OpenFiles {
  /** Throws `database_replaced` from the first time on that a file has another inode, or none. */
  verify(): void;
}

/** Call with the database open. Its log is known from the first commit on: it keeps its inode while a reader is connected. */
export function createOpenFiles(path: string, onReplaced: () => void): OpenFiles {
  const file = identity(path);
  let log: string | null = null;
  let isReplaced = false;
  return {
    verify: () => {
      if (!isReplaced) {
        const found = identity(`${path}-wal`);
        log ??= found;
        if (identity(path) === file && found === log) return;
        isReplaced = true;
        onReplaced();
      }
      throw new PlatformError("database_replaced");
    },
  };
}

/** Null without the file. Inodes may need 64 bits. */
function identity(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}/${stat.ino}`;
}
