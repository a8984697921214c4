import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writevSync,
} from "node:fs";
import { crc32 } from "node:zlib";
import { segmentsIn } from "#events/logs/indexer.ts";
import { segmentPath } from "#events/logs/segment.ts";
import type { NodePlace } from "#events/rows/node-batch.ts";

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
  /** Stores all rows or none; they are on disk when it returns. Throws a SpoolFullError if they do not fit. */
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
  /** The machine that takes them; default: control. */
  readonly taker?: string;
}

/** Before each record: its length and checksum. */
export const SPOOL_HEAD_BYTES = 8;
const SEGMENT_BYTES_MAX = 16 * 1024 * 1024;

/** Each start begins a new file, so that no record follows a damaged one. */
export function createSpool({ directory, bytesMax, damaged, segmentBytesMax = SEGMENT_BYTES_MAX, taker = "control" }: SpoolDeps): Spool {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const sizes = new Map(segmentsIn(directory).map((segment) => [segment, statSync(segmentPath(directory, segment)).size]));
  let segment = Math.max(0, ...sizes.keys());
  let file: number | null = null;
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
  return {
    append: (records) => {
      const parts = records.flatMap((record) => [headOf(record), record]);
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      if (total + bytes > bytesMax)
        throw new SpoolFullError(`events.bytes_max is reached: rows that ${taker} has not taken fill the disk's share`);
      if (file !== null && sizes.get(segment)! >= segmentBytesMax) end();
      file ??= begin();
      const before = sizes.get(segment)!;
      try {
        writeAll(file, parts, bytes);
        fdatasyncSync(file);
      } catch (error) {
        giveUp(file, before);
        end();
        throw error;
      }
      sizes.set(segment, before + bytes);
      total += bytes;
    },
    next: (from, limit) => {
      let { segment: read, at } = from;
      for (const known of [...sizes.keys()].sort((a, b) => a - b)) {
        if (known < read) continue;
        if (known > read) [read, at] = [known, 0];
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
      for (const [known, size] of sizes) {
        if (known > upTo.segment || (known === upTo.segment && (upTo.at < size || known === segment))) continue;
        if (known === segment) end();
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

/** Records of a batch, each without its head. Throws a RangeError if the bytes are something else. */
export function spoolRecords(bytes: Uint8Array): readonly Uint8Array[] {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: Uint8Array[] = [];
  for (let at = 0; at < from.length;) {
    const end = endOfRecord(from, at);
    if (end < 0) throw new RangeError("a record is damaged");
    records.push(from.subarray(at + SPOOL_HEAD_BYTES, end));
    at = end;
  }
  return records;
}

function headOf(record: Uint8Array): Buffer {
  const head = Buffer.alloc(SPOOL_HEAD_BYTES);
  head.writeUInt32LE(record.length, 0);
  head.writeUInt32LE(crc32(record), 4);
  return head;
}

/** -1 if no complete record begins there. */
function endOfRecord(from: Buffer, at: number): number {
  const start = at + SPOOL_HEAD_BYTES;
  if (start > from.length) return -1;
  const end = start + from.readUInt32LE(at);
  return end > from.length || crc32(from.subarray(start, end)) !== from.readUInt32LE(at + 4) ? -1 : end;
}

/** Complete records, at least one if it is whole, of a file with this size. */
function recordsOf(path: string, at: number, size: number, limit: number): Buffer {
  if (at + SPOOL_HEAD_BYTES > size) return Buffer.alloc(0);
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(SPOOL_HEAD_BYTES);
    readSync(file, head, 0, head.length, at);
    const bytes = Buffer.alloc(Math.min(size - at, Math.max(limit, SPOOL_HEAD_BYTES + head.readUInt32LE(0))));
    const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
    let end = 0;
    for (let next = endOfRecord(read, 0); next > 0; next = endOfRecord(read, end)) end = next;
    return read.subarray(0, end);
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, parts: readonly Uint8Array[], bytes: number): void {
  let done = 0;
  // IOV_MAX is 1024.
  for (let i = 0; i < parts.length; i += 1024) done += writevSync(file, parts.slice(i, i + 1024));
  if (done !== bytes) throw new Error(`${done} of ${bytes} bytes could be written`);
}

function giveUp(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // The next file begins without it; readers stop at bytes that are not a record.
  }
}
