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
  /** NDJSON, compressed with gzip. */
  readonly body: Uint8Array;
  /** Time of the oldest request in Unix milliseconds; null if empty. */
  readonly firstMs: number | null;
  /** The position after the batch. */
  readonly next: LogPosition;
  /** A limit was reached, so more logs may follow. */
  readonly isFull: boolean;
}

export interface BatchDeps {
  readonly tail: LogTail;
  readonly clock: Clock;
  /** The log as a line; undefined if it is not pushed. */
  write(log: TailedLog): string | undefined;
}

/** Size of the chunks that are passed to the compressor. */
const PIECE_CHARACTERS = 256 * 1024;
/** Reads of about a megabyte each, after which the position is stored even if nothing is pushed. */
const READS_MAX = 64;
/** Half the CPU time of the default (6), for output that is a tenth larger. */
const GZIP_LEVEL = 3;
/** Longest time in milliseconds without yielding to other work. */
const TURN_MS = 5;

/** Collects a batch from `from` on. Only compressed data is held in memory. */
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
  /** False if the log belongs to the next batch. */
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
