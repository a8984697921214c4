import { existsSync, readdirSync, statSync, unlinkSync } from "node:fs";
import { openSegmentReader, type ReadRecord, type SegmentReader } from "./reader.ts";
import { nodeSegmentsIn, segmentOf, segmentPath } from "./segment.ts";
import type { LogTables } from "./tables.ts";

/** The writer's side of the segments: moves their rows into the events database, each once. */
export interface LogIndexer {
  /** One short step. Returns true while it has more to read. */
  step(): boolean;
  /** Removes segments that no row needs, and the oldest ones above the byte limit. */
  tidy(bytesMax: number): void;
  /** Bytes of all segments that can be removed. */
  bytes(): number;
  /** Goes on from where the database is, which is another one now. */
  restart(): void;
  close(): void;
}

export interface LogIndexerDeps {
  readonly directory: string;
  readonly logs: LogTables;
  /** The data at this place, or after it, is not a record or was refused by the database. */
  damaged(segment: number, at: number): void;
}

interface Open {
  readonly segment: number;
  readonly reader: SegmentReader;
  readTo: number;
}

export function createLogIndexer({ directory, logs, damaged }: LogIndexerDeps): LogIndexer {
  let open: Open | null = null;
  /** All segments up to this one are finished. */
  let done = 0;
  let isResumed = false;

  /** Oldest first. The newest with logs of nodes may still grow. */
  const finished = (): readonly number[] => {
    const own = segmentsIn(directory).filter((segment) => segment <= done);
    const ofNodes = segmentsIn(nodeSegmentsIn(directory)).slice(0, -1);
    return ofNodes.length === 0 ? own : [...own, ...ofNodes].sort((a, b) => writtenMs(directory, a) - writtenMs(directory, b));
  };

  const resume = (): void => {
    isResumed = true;
    const from = logs.checkpoint();
    if (from === undefined) return;
    done = from.segment - 1;
    if (existsSync(segmentPath(directory, from.segment))) openNext(from.segment, from.readTo);
    else done = from.segment;
  };

  const openNext = (segment: number, readTo: number): void => {
    const reader = openSegmentReader(directory, segment);
    if (reader !== undefined) open = { segment, reader, readTo };
    // A segment ends at an incomplete header, and cannot be read after a damaged one.
    else if (hasSuccessor(directory, segment)) {
      if (sizeOf(directory, segment) > 0) damaged(segment, 0);
      done = segment;
    }
  };

  /** A row that the database refuses must not block the rows after it. */
  const index = (at: Open, records: readonly ReadRecord[], readTo: number): void => {
    const { segment, reader } = at;
    const { columns } = reader;
    try {
      logs.index({ segment, columns, records, readTo });
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (records.length > 1) for (const record of records) index(at, [record], record.at + record.head.length);
      else {
        logs.index({ segment, columns, records: [], readTo });
        damaged(segment, records[0]?.at ?? readTo);
      }
    }
    at.readTo = readTo;
  };

  const leave = (at: Open): void => {
    if (at.readTo < sizeOf(directory, at.segment)) damaged(at.segment, at.readTo);
    at.reader.close();
    done = at.segment;
    open = null;
  };

  return {
    step: () => {
      if (!isResumed) resume();
      if (open === null) {
        const next = segmentsIn(directory).find((segment) => segment > done);
        if (next !== undefined) openNext(next, 0);
        if (open === null) return next !== undefined && done >= next;
      }
      const at: Open = open;
      // Checked before the read: a segment with a successor receives no more records.
      const isOver = hasSuccessor(directory, at.segment);
      const { records, next, isFull } = at.reader.read(at.readTo);
      if (records.length > 0) index(at, records, next);
      // Waits after catching up: each batch has a fixed cost besides its rows.
      if (records.length > 0) return isFull || isOver;
      if (isOver) leave(at);
      return isOver;
    },
    tidy: (bytesMax) => {
      for (const segment of logs.takeEmptySegments()) remove(directory, segment);
      let bytes = 0;
      for (const segment of finished().toReversed()) {
        bytes += sizeOf(directory, segment);
        if (bytes > bytesMax) remove(directory, segment);
      }
    },
    bytes: () => finished().reduce((sum, segment) => sum + sizeOf(directory, segment), 0),
    restart: () => {
      open?.reader.close();
      open = null;
      done = 0;
      isResumed = false;
    },
    close: () => open?.reader.close(),
  };
}

/** Numbers of the segments, oldest first. */
export const segmentsIn = (directory: string): number[] =>
  existsSync(directory)
    ? readdirSync(directory)
        .flatMap((name) => segmentOf(name) ?? [])
        .sort((a, b) => a - b)
    : [];

/** The numbers are consecutive, even across starts of the gateway. */
const hasSuccessor = (directory: string, segment: number): boolean => existsSync(segmentPath(directory, segment + 1));

const sizeOf = (directory: string, segment: number): number =>
  statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.size ?? 0;

const writtenMs = (directory: string, segment: number): number =>
  statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function remove(directory: string, segment: number): void {
  const path = segmentPath(directory, segment);
  if (existsSync(path)) unlinkSync(path);
}

// https://www.sqlite.org/rescode.html: SQLITE_CONSTRAINT, SQLITE_MISMATCH. Values that no column accepts are refused
// earlier.
const REFUSED_CODES: readonly number[] = [19, 20];

const isRefused = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  (error instanceof Error && "errcode" in error && REFUSED_CODES.includes(Number(error.errcode) & 0xff));
