import { existsSync, statSync } from "node:fs";
import { decodeRow } from "#events/rows/schema.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { createLogBodyStore, type LogBodies } from "./bodies.ts";
import { segmentsIn } from "./indexer.ts";
import { openSegmentReader, type ReadRecord, type SegmentReader } from "./reader.ts";
import { segmentPath } from "./segment.ts";

/** A place between two records of the segments. */
export interface LogPosition {
  readonly segment: number;
  readonly at: number;
}

/** A log that is to be kept, as it lies in its segment. */
export interface TailedLog {
  readonly row: GatewayLogRow;
  /** Behind its record. */
  readonly next: LogPosition;
  /** Kept bytes of both bodies. */
  readonly bodyBytes: number;
  /** Null where none are kept, or none any more. */
  bodies(): LogBodies | null;
}

/**
 * Follows the logs of gateways in the order in which requests ended, from the segments themselves: what it gives does not depend
 * on how far the events database is, and a position means the same after a restart. Logs that were deleted are not in it.
 */
export interface LogTail {
  /** Before the first record that may be from `sinceMs` (Unix milliseconds) or later. */
  start(sinceMs: number): LogPosition;
  /** The next records, some megabyte of them; `isEnd`: nothing follows `next` yet. */
  read(from: LogPosition): { readonly logs: readonly TailedLog[]; readonly next: LogPosition; readonly isEnd: boolean };
}

export function createLogTail(directory: string): LogTail {
  const bodies = createLogBodyStore(directory);
  const tailed = (reader: SegmentReader, segment: number, record: ReadRecord): TailedLog[] => {
    const { columns } = reader;
    const { cells, at, head } = record;
    if (cells === null || cells[columns.indexOf("keep_mode")] === "none") return [];
    const row = decodeRow("gateway_logs", Object.fromEntries(columns.map((name, i) => [name, cells[i]])));
    const bodyBytes = head.requestBytes + head.responseBytes;
    const next = { segment, at: at + head.length };
    return [{ row, next, bodyBytes, bodies: () => (bodyBytes === 0 ? null : (reader.bodiesOf(record) ?? bodies.read({ segment, at }))) }];
  };
  return {
    start: (sinceMs) => {
      const segments = segmentsIn(directory);
      // What was last written before then holds nothing younger.
      const fit = segments.find(
        (segment) => (statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs,
      );
      return { segment: fit ?? segments.at(-1) ?? 0, at: 0 };
    },
    read: ({ segment, at }) => {
      // Before the reading: a segment that has a successor gets nothing more.
      const successor = segmentsIn(directory).find((one) => one > segment);
      const reader = existsSync(segmentPath(directory, segment)) ? openSegmentReader(directory, segment) : undefined;
      try {
        const { records, next } = reader?.read(at) ?? { records: [], next: at };
        if (reader === undefined || records.length === 0) {
          const isEnd = successor === undefined;
          return { logs: [], next: isEnd ? { segment, at } : { segment: successor, at: 0 }, isEnd };
        }
        const logs = records.flatMap((record) => tailed(reader, segment, record));
        return { logs, next: { segment, at: next }, isEnd: false };
      } finally {
        reader?.close();
      }
    },
  };
}
