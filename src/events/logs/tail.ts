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

/** A log to be kept, as stored in its segment. */
export interface TailedLog {
  readonly row: GatewayLogRow;
  /** Position after its record. */
  readonly next: LogPosition;
  /** Bytes kept of both bodies. */
  readonly bodyBytes: number;
  /** Null if none are kept, or no longer. */
  bodies(): LogBodies | null;
}

/**
 * Follows the logs of gateways in the order in which requests ended, from the segments themselves: its output does not
 * depend on the events database's progress, and a position keeps its meaning after a restart. Deleted logs are not
 * included.
 */
export interface LogTail {
  /** Before the first record that may be from `sinceMs` (Unix milliseconds) or later. */
  start(sinceMs: number): LogPosition;
  /** The next records, about a megabyte; `isEnd`: no record follows `next` yet. */
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
      // A segment last written before then has no younger records.
      const fit = segments.find(
        (segment) => (statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= sinceMs,
      );
      return { segment: fit ?? segments.at(-1) ?? 0, at: 0 };
    },
    read: ({ segment, at }) => {
      // Checked before the read: a segment with a successor receives no more records.
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
