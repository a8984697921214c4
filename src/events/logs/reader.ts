import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { bodiesIn, type LogBodies } from "./bodies.ts";
import { type RecordHead, readRecordHead, RECORD_HEAD_BYTES, rowCrcOf, type SegmentHeader, segmentPath } from "./segment.ts";

/** A record of a segment, as the index needs it. */
export interface ReadRecord {
  /** Offset of the record in its segment. */
  readonly at: number;
  readonly head: RecordHead;
  /** Cells by the segment's columns; null if the record is erased. */
  readonly cells: readonly unknown[] | null;
}

/** Reads a segment from the front while another thread may still write to it. */
export interface SegmentReader {
  readonly columns: readonly string[];
  /**
   * Consecutive records from `from` on, up to a byte limit; `next` is the place to continue, `isFull` means that the
   * limit was reached.
   */
  read(from: number): { readonly records: readonly ReadRecord[]; readonly next: number; readonly isFull: boolean };
  /** Both bodies of a record of the last read, as views of the read bytes; undefined if these do not contain them completely. */
  bodiesOf(record: ReadRecord): LogBodies | undefined;
  close(): void;
}

const CHUNK_BYTES = 1024 * 1024;
const HEADER_BYTES_MAX = 16 * 1024;

/** Undefined if the segment has no complete header (yet) or no valid one. */
export function openSegmentReader(directory: string, segment: number): SegmentReader | undefined {
  const file = openSync(segmentPath(directory, segment), "r");
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const header = readHeader(file, chunk);
  if (header === undefined) {
    closeSync(file);
    return undefined;
  }
  const { columns, bytes } = header;
  let start = 0;
  let view = chunk.subarray(0, 0);
  return {
    columns,
    read: (from) => {
      start = Math.max(from, bytes);
      view = chunk.subarray(0, readSync(file, chunk, 0, chunk.length, start));
      const size = fstatSync(file).size;
      return { ...readRecords(view, start, size), isFull: view.length === chunk.length };
    },
    bodiesOf: ({ at, head }) => {
      const first = at - start + RECORD_HEAD_BYTES + head.rowBytes;
      const end = first + head.requestBytes + head.responseBytes;
      return first < 0 || end > view.length ? undefined : bodiesIn(view.subarray(first, end), head);
    },
    close: () => closeSync(file),
  };
}

/** Stops before incomplete or invalid records. */
function readRecords(view: Buffer, start: number, size: number): { readonly records: ReadRecord[]; readonly next: number } {
  const records: ReadRecord[] = [];
  let at = 0;
  for (;;) {
    const head = readRecordHead(view, at);
    const rowEnd = at + RECORD_HEAD_BYTES + (head?.rowBytes ?? 0);
    if (head === undefined || rowEnd > view.length || start + at + head.length > size) break;
    const cells = head.isErased ? null : readCells(view, at, head);
    if (cells === undefined) break;
    records.push({ at: start + at, head, cells });
    at += head.length;
  }
  return { records, next: start + at };
}

/** Undefined if the row differs from the written one. */
function readCells(view: Buffer, at: number, { rowBytes, rowCrc }: RecordHead): readonly unknown[] | undefined {
  if (rowCrcOf(view, at, rowBytes) !== rowCrc) return undefined;
  return JSON.parse(view.toString("utf8", at + RECORD_HEAD_BYTES, at + RECORD_HEAD_BYTES + rowBytes)) as readonly unknown[];
}

function readHeader(file: number, chunk: Buffer): (SegmentHeader & { readonly bytes: number }) | undefined {
  const bytes = readSync(file, chunk, 0, HEADER_BYTES_MAX, 0);
  const end = chunk.subarray(0, bytes).indexOf(0x0a);
  const columns = end < 0 ? undefined : columnsIn(chunk.toString("utf8", 0, end));
  return columns === undefined ? undefined : { columns, bytes: end + 1 };
}

/** Undefined if the line is not a header. */
function columnsIn(line: string): readonly string[] | undefined {
  try {
    const { columns } = JSON.parse(line) as Partial<SegmentHeader>;
    return Array.isArray(columns) && columns.every((column) => typeof column === "string") ? columns : undefined;
  } catch {
    return undefined;
  }
}
