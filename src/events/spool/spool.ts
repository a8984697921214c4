import { closeSync, existsSync, fdatasyncSync, ftruncateSync, mkdirSync, openSync, statSync, unlinkSync, writevSync } from "node:fs";
import { segmentsIn } from "#events/logs/indexer.ts";
import { segmentPath } from "#events/logs/segment.ts";
import type { NodePlace } from "#events/rows/node-batch.ts";
import { createMemoryRecords } from "./memory-records.ts";
import { headOf, recordsOf } from "./spool-records.ts";

/** Files of records that leave the disk once control has them. */
export interface BatchFiles {
  /** Records from this place on, about `bytesMax` of them; null if all are read. */
  next(from: NodePlace, bytesMax: number): { readonly to: NodePlace; readonly bytes: Uint8Array } | null;
  /** Removes files whose records all come before the place. */
  release(upTo: NodePlace): void;
  /** Size on disk. */
  bytes(): number;
}

/** Rows on the disk until another machine has them. */
export interface Spool extends BatchFiles {
  /**
   * Stores all rows or none; they are on disk when it returns, or in memory while the disk is full. Throws a SpoolFullError if they do not
   * fit.
   */
  append(records: readonly Uint8Array[]): void;
  /** The number of the file that the next record is added to; null if it begins a new one. */
  open(): number | null;
  /** Ends that file. */
  close(): void;
}

export class SpoolFullError extends Error {}

export interface SpoolDeps {
  readonly directory: string;
  readonly bytesMax: number;
  /** The rest of a file, from this place on, is not a record: it was being written when the machine stopped. */
  damaged(place: NodePlace): void;
  readonly segmentBytesMax?: number;
  /** Rows in memory while the disk is full; default: none. */
  readonly memoryBytesMax?: number;
  /** The disk is full, and rows stay in memory; or no longer. */
  readonly short?: (isShort: boolean) => void;
  /** The machine that takes them; default: control. */
  readonly taker?: string;
}

/** Codes of a write that finds no room. */
const NO_ROOM: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/** Whether a write found no room, on the disk or in the spool's share of it. */
export const isFullError = (error: unknown): boolean =>
  error instanceof SpoolFullError || NO_ROOM.has((error as NodeJS.ErrnoException).code);

const SEGMENT_BYTES_MAX = 16 * 1024 * 1024;

/** Each start begins a new file, so that no record follows a damaged one. */
export function createSpool({
  directory,
  bytesMax,
  damaged,
  segmentBytesMax = SEGMENT_BYTES_MAX,
  memoryBytesMax = 0,
  short = () => undefined,
  taker = "control",
}: SpoolDeps): Spool {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const sizes = new Map(segmentsIn(directory).map((segment) => [segment, statSync(segmentPath(directory, segment)).size]));
  let segment = Math.max(0, ...sizes.keys());
  let file: number | null = null;
  const memory = createMemoryRecords(memoryBytesMax);
  /** The file whose records are in memory now; its number is on the disk, so that no later file gets it. */
  let holding: number | null = null;
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);

  const begin = (): number => {
    // While one process takes over from another, both begin files.
    for (;;) {
      try {
        const opened = openSync(segmentPath(directory, ++segment), "wx", 0o600);
        sizes.set(segment, 0);
        return opened;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  };
  const forget = (known: number): void => {
    total -= sizes.get(known) ?? 0;
    sizes.delete(known);
  };
  const end = (): void => {
    if (file !== null) closeSync(file);
    file = null;
  };
  /** Leaves nothing on the disk if it fails. */
  const write = (parts: readonly Uint8Array[], bytes: number): void => {
    file ??= begin();
    const before = sizes.get(segment)!;
    try {
      writeAll(file, parts, bytes);
      fdatasyncSync(file);
    } catch (error) {
      giveUp(file, before);
      end();
      if (before === 0 && memoryBytesMax > 0) {
        unlinkSync(segmentPath(directory, segment));
        forget(segment);
      }
      throw error;
    }
    sizes.set(segment, before + bytes);
  };
  const hold = (bytes: Buffer): void => {
    if (holding === null) {
      // An empty file needs no room.
      closeSync(begin());
      holding = segment;
      short(true);
    }
    if (!memory.append(holding, bytes))
      throw new SpoolFullError(`the disk is full: rows that ${taker} has not taken fill the memory for them`);
    sizes.set(holding, sizes.get(holding)! + bytes.length);
  };
  return {
    append: (records) => {
      const parts = records.flatMap((record) => [headOf(record), record]);
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      if (total + bytes > bytesMax)
        throw new SpoolFullError(`events.bytes_max is reached: rows that ${taker} has not taken fill the disk's share`);
      if (file !== null && sizes.get(segment)! >= segmentBytesMax) end();
      try {
        write(parts, bytes);
        if (holding !== null) short(false);
        holding = null;
      } catch (error) {
        if (memoryBytesMax === 0 || !isFullError(error)) throw error;
        hold(Buffer.concat(parts));
      }
      total += bytes;
    },
    next: (from, limit) => {
      let { segment: read, at } = from;
      for (const known of [...sizes.keys()].sort((a, b) => a - b)) {
        if (known < read) continue;
        if (known > read) [read, at] = [known, 0];
        if (memory.has(read)) {
          const bytes = memory.read(read, at, limit);
          if (bytes.length === 0) continue;
          return { to: { segment: read, at: at + bytes.length }, bytes };
        }
        if (!existsSync(segmentPath(directory, read))) {
          // The process before this one has released it while it ended.
          forget(known);
          continue;
        }
        const bytes = recordsOf(segmentPath(directory, read), at, sizes.get(read)!, limit);
        if (bytes.length > 0) return { to: { segment: read, at: at + bytes.length }, bytes };
        if (at < sizes.get(read)!) damaged({ segment: read, at });
      }
      return null;
    },
    release: (upTo) => {
      const newest = Math.max(...sizes.keys());
      memory.release(upTo.segment, upTo.at);
      for (const [known, size] of sizes) {
        if (known > upTo.segment || (known === upTo.segment && (upTo.at < size || known === newest))) continue;
        if (known === segment) end();
        if (known === holding) holding = null;
        memory.release(known, Infinity);
        const path = segmentPath(directory, known);
        if (existsSync(path)) unlinkSync(path);
        forget(known);
      }
    },
    bytes: () => total,
    open: () => (file === null ? null : segment),
    close: end,
  };
}

function writeAll(file: number, parts: readonly Uint8Array[], bytes: number): void {
  let done = 0;
  // IOV_MAX is 1024.
  for (let i = 0; i < parts.length; i += 1024) done += writevSync(file, parts.slice(i, i + 1024));
  if (done !== bytes) throw Object.assign(new Error(`${done} of ${bytes} bytes could be written`), { code: "ENOSPC" });
}

function giveUp(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // The next file begins without it; readers stop at bytes that are not a record.
  }
}
