import { closeSync, fdatasyncSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { columnsOf } from "#events/rows/schema.ts";
import { segmentsIn } from "./indexer.ts";
import type { ReadRecord } from "./reader.ts";
import {
  FIRST_NODE_SEGMENT,
  nodeSegmentsIn,
  readRecordHead,
  RECORD_HEAD_BYTES,
  rowCrcOf,
  type SegmentHeader,
  segmentPath,
} from "./segment.ts";
import type { LogBatch, LogTables } from "./tables.ts";

/** The bytes are not records of gateway logs. */
export class UnfitLogsError extends Error {}

/** Logs of a batch, before they have a place. */
export interface NodeLogs {
  readonly columns: readonly string[];
  readonly bytes: Buffer;
  /** Rows that the table accepts. */
  readonly records: readonly ReadRecord[];
  /** Number of rows that the table refuses. */
  readonly unfit: number;
}

/** Segments with logs of nodes. One thread, the writer, appends to them. */
export interface NodeSegments {
  /** Appends the records and indexes them, in the caller's transaction. If this throws, nothing was appended. */
  append(tables: Pick<LogTables, "index">, logs: NodeLogs): void;
  /** The last `append` was not committed. */
  undo(): void;
  close(): void;
}

const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;
/** A batch has about a megabyte of rows, or one record with bodies. */
const BATCH_BYTES_MAX = 64 * 1024 * 1024;
const COLUMNS_MAX = 200;

/** `newestKnown`: the highest number of a node's segment in the database; numbers are never used again. */
export function createNodeSegments(directory: string, newestKnown: () => number): NodeSegments {
  let open: { readonly file: number; readonly segment: number; readonly columns: string; size: number } | null = null;
  let before = 0;
  const end = (): void => {
    if (open !== null) closeSync(open.file);
    open = null;
  };
  const begin = (columns: readonly string[]): NonNullable<typeof open> => {
    const segment = Math.max(FIRST_NODE_SEGMENT, newestKnown(), ...segmentsIn(nodeSegmentsIn(directory))) + 1;
    const path = segmentPath(directory, segment);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(path, "wx", 0o600);
    const header = Buffer.from(`${JSON.stringify({ columns } satisfies SegmentHeader)}\n`);
    writeSync(file, header);
    return { file, segment, columns: columns.join(), size: header.length };
  };
  const undo = (): void => {
    if (open === null) return;
    ftruncateSync(open.file, before);
    open.size = before;
  };
  return {
    append: (tables, { columns, bytes, records }) => {
      if (open !== null && (open.columns !== columns.join() || open.size >= SEGMENT_BYTES_MAX)) end();
      open ??= begin(columns);
      const at = open;
      before = at.size;
      try {
        if (writeSync(at.file, bytes, 0, bytes.length, at.size) !== bytes.length) throw new Error("logs of a node could not be written");
        fdatasyncSync(at.file);
        at.size += bytes.length;
        const placed = records.map((record): ReadRecord => ({ ...record, at: record.at + before }));
        tables.index({ segment: at.segment, columns, records: placed, readTo: at.size } satisfies LogBatch);
      } catch (error) {
        undo();
        throw error;
      }
    },
    undo,
    close: end,
  };
}

/** Reads what a node has sent. Throws an UnfitLogsError. */
export function readNodeLogs(sent: Uint8Array): NodeLogs {
  const { columns, bytes } = contentOf(sent);
  const records: ReadRecord[] = [];
  let unfit = 0;
  const fits = fitting(columns);
  for (let at = 0; at < bytes.length;) {
    const head = readRecordHead(bytes, at);
    if (head === undefined || head.length < RECORD_HEAD_BYTES || at + head.length > bytes.length)
      throw new UnfitLogsError("a record is cut off");
    const cells = rowCrcOf(bytes, at, head.rowBytes) === head.rowCrc ? cellsAt(bytes, at + RECORD_HEAD_BYTES, head.rowBytes) : null;
    if (cells !== null && fits(cells)) records.push({ at, head, cells });
    else unfit++;
    at += head.length;
  }
  return { columns, bytes, records, unfit };
}

function contentOf(sent: Uint8Array): { readonly columns: readonly string[]; readonly bytes: Buffer } {
  try {
    const content = zstdDecompressSync(sent, { maxOutputLength: BATCH_BYTES_MAX });
    const end = content.indexOf(0x0a);
    const columns: unknown = JSON.parse(content.toString("utf8", 0, end));
    if (!Array.isArray(columns) || columns.length > COLUMNS_MAX || !columns.every((column) => typeof column === "string"))
      throw new Error("the columns are missing");
    return { columns, bytes: content.subarray(end + 1) };
  } catch (error) {
    throw new UnfitLogsError(error instanceof Error ? error.message : String(error));
  }
}

function cellsAt(bytes: Buffer, at: number, length: number): readonly unknown[] | null {
  try {
    const cells: unknown = JSON.parse(bytes.toString("utf8", at, at + length));
    return Array.isArray(cells) ? cells : null;
  } catch {
    return null;
  }
}

/** STRICT tables would refuse the whole batch for one value. */
function fitting(columns: readonly string[]): (cells: readonly unknown[]) => boolean {
  const known = new Map(columnsOf("gateway_logs").map((column) => [column.name as string, column]));
  const of = columns.map((name) => known.get(name));
  return (cells) =>
    cells.length === columns.length &&
    of.every((column, i) => {
      const cell = cells[i];
      if (column === undefined) return true;
      if (cell === null) return column.nullable;
      if (column.sql === "TEXT") return typeof cell === "string" && ((column.name as string) !== "metadata" || isJsonOrEmpty(cell));
      return column.sql === "INTEGER" ? Number.isSafeInteger(cell) : Number.isFinite(cell);
    });
}

/** Queries parse it. */
function isJsonOrEmpty(text: string): boolean {
  try {
    return text === "" || JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}
