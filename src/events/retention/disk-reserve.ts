import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs";

/**
 * A file that holds room for the moment in which the disk has none: to delete rows, SQLite writes first, and what its log holds may need
 * a longer file before the log can be used again. Without that room a full disk would stay full for good.
 */
export interface DiskReserve {
  /** Takes the room, or more of it, where it is free. */
  keep(): void;
  /** Gives it back; false where there was none. */
  release(): boolean;
}

/** What SQLite's log has before it goes into the file, four times. */
const RESERVE_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** Of what is free: a small disk is for rows. */
const FREE_SHARE = 1 / 4;

export function createDiskReserve(path: string, freeBytes: () => number): DiskReserve {
  const grow = (bytes: number): void => {
    const file = openSync(path, "a", 0o600);
    try {
      // Noise: of zeros, some file systems keep only that there are some. None of them looks as far back as a chunk is long.
      const noise = randomBytes(CHUNK_BYTES);
      for (let rest = bytes; rest > 0; rest -= CHUNK_BYTES) writeSync(file, noise);
    } finally {
      closeSync(file);
    }
  };
  return {
    release: () => {
      const isThere = existsSync(path);
      rmSync(path, { force: true });
      return isThere;
    },
    keep: () => {
      try {
        const kept = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
        const bytes = Math.min(RESERVE_BYTES - kept, (freeBytes() + kept) * FREE_SHARE - kept);
        if (bytes >= CHUNK_BYTES) grow(bytes);
      } catch {
        // Others were faster to take it: later.
      }
    },
  };
}
