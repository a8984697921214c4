import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs";

/**
 * A file that reserves room for the moment when the disk is full: to delete rows, SQLite first writes, and its log may
 * need a longer file before it can be used again. Without that room a full disk would stay full.
 */
export interface DiskReserve {
  /** Reserves the room, or more of it, if it is free. */
  keep(): void;
  /** Releases it; false without a reserve. */
  release(): boolean;
}

/** Four times the size that SQLite's log reaches before it is copied into the file. */
const RESERVE_BYTES = 16 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** Share of the free room: on a small disk, rows need it. */
const FREE_SHARE = 1 / 4;

export function createDiskReserve(path: string, freeBytes: () => number): DiskReserve {
  const grow = (bytes: number): void => {
    const file = openSync(path, "a", 0o600);
    try {
      // Noise: some file systems do not store zeros. None of them looks back as far as a chunk is long.
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
        // Another program took the room first: try later.
      }
    },
  };
}
