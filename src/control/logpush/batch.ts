import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { createGzip } from "node:zlib";
import type { LogPosition, LogTail, TailedLog } from "#events/logs/tail.ts";
import type { Clock } from "#kernel/clock.ts";

export interface BatchBounds {
  readonly bytesMax: number;
  readonly recordsMax: number;
}

export interface LogBatch {
  readonly records: number;
  /** Lines of JSON, gzip. */
  readonly body: Uint8Array;
  /** When the oldest request of it came, Unix milliseconds; null where there is none. */
  readonly firstMs: number | null;
  /** Behind what is in it. */
  readonly next: LogPosition;
  /** A bound was met: there may be more. */
  readonly isFull: boolean;
}

export interface BatchDeps {
  readonly tail: LogTail;
  readonly clock: Clock;
  /** The line of a log; undefined for one that is not pushed. */
  write(log: TailedLog): string | undefined;
}

/** Lines wait for the compressor in pieces of this size. */
const PIECE_CHARACTERS = 256 * 1024;
/** Of some megabyte each: how far a job is is noted at least so often, also where nothing of it is pushed. */
const READS_MAX = 64;
/** Half of the work of what is usual (6), for a tenth more bytes of chats. */
const GZIP_LEVEL = 3;
/** So long this thread's other work waits at most. */
const TURN_MS = 5;

/** Gathers a batch from `from` on. What is held of it in memory is compressed already. */
export async function readBatch({ tail, clock, write }: BatchDeps, from: LogPosition, bounds: BatchBounds): Promise<LogBatch> {
  const gzip = createGzip({ level: GZIP_LEVEL });
  const compressed: Buffer[] = [];
  gzip.on("data", (part: Buffer) => compressed.push(part));
  const ended = once(gzip, "end");
  let [piece, bytes, records] = ["", 0, 0];
  let firstMs: number | null = null;
  let next = from;
  let isFull = false;
  let turnEndMs = clock.monotonicMs() + TURN_MS;

  const flush = async (): Promise<void> => {
    const full = piece;
    piece = "";
    if (!gzip.write(full)) await once(gzip, "drain");
  };
  /** False where the log belongs to the next batch. */
  const add = async (log: TailedLog): Promise<boolean> => {
    const line = write(log);
    if (line !== undefined) {
      const size = Buffer.byteLength(line);
      if (records > 0 && (bytes + size > bounds.bytesMax || records >= bounds.recordsMax)) return false;
      piece += line;
      bytes += size;
      records++;
      firstMs = Math.min(firstMs ?? Infinity, log.row.at_ms);
      if (piece.length >= PIECE_CHARACTERS) await flush();
    }
    next = log.next;
    if (clock.monotonicMs() < turnEndMs) return true;
    await turn();
    turnEndMs = clock.monotonicMs() + TURN_MS;
    return true;
  };

  let isOver = false;
  for (let reads = 1; !isOver && !isFull; reads++) {
    const read = tail.read(next);
    for (const log of read.logs) {
      isFull = !(await add(log));
      if (isFull) break;
    }
    if (!isFull) next = read.next;
    isOver = read.isEnd;
    isFull ||= reads >= READS_MAX;
    await turn();
  }
  gzip.end(piece);
  await ended;
  return { records, firstMs, body: Buffer.concat(compressed), next, isFull };
}
