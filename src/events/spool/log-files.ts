import { closeSync, openSync, readSync, statSync, unlinkSync } from "node:fs";
import { zstdCompressSync } from "node:zlib";
import { segmentsIn } from "#events/logs/indexer.ts";
import { openSegmentReader } from "#events/logs/reader.ts";
import { segmentPath } from "#events/logs/segment.ts";
import type { NodePlace } from "#events/rows/node-batch.ts";
import type { BatchFiles } from "./spool.ts";

export interface LogFilesDeps {
  readonly directory: string;
  /** The rest of a segment, from this place on, is not a record. */
  damaged(place: NodePlace): void;
}

/** The gateway's segments of a node, from which its logs are sent with their bodies. */
export interface LogFiles extends BatchFiles {
  /** Deletes the oldest segments above the limit, except the newest; returns their bytes from `from` on. */
  trim(bytesMax: number, from: NodePlace): number;
}

/** `next` gives the columns of the segment in a line of JSON and then its records, compressed. */
export function createLogFiles({ directory, damaged }: LogFilesDeps): LogFiles {
  const remove = (segment: number): void => unlinkSync(segmentPath(directory, segment));
  const sizeOf = (segment: number): number => statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.size ?? 0;
  return {
    next: (from) => {
      const segments = segmentsIn(directory).filter((segment) => segment >= from.segment);
      for (const [i, segment] of segments.entries()) {
        const at = segment === from.segment ? from.at : 0;
        const found = recordsOf(directory, segment, at);
        if (found !== null && found.to > found.from) {
          const bytes = zstdCompressSync(Buffer.concat([Buffer.from(`${JSON.stringify(found.columns)}\n`), found.bytes]));
          return { to: { segment, at: found.to }, bytes };
        }
        // Listed before the read: a segment with a successor receives no more records.
        if (i + 1 === segments.length) return null;
        if ((found?.to ?? 0) < sizeOf(segment)) damaged({ segment, at });
      }
      return null;
    },
    release: (upTo) => {
      for (const segment of segmentsIn(directory).slice(0, -1))
        if (segment < upTo.segment || (segment === upTo.segment && upTo.at >= sizeOf(segment))) remove(segment);
    },
    bytes: () => segmentsIn(directory).reduce((sum, segment) => sum + sizeOf(segment), 0),
    trim: (bytesMax, from) => {
      let [bytes, lost] = [0, 0];
      for (const [age, segment] of segmentsIn(directory).toReversed().entries()) {
        const size = sizeOf(segment);
        bytes += size;
        if (age === 0 || bytes <= bytesMax) continue;
        if (segment >= from.segment) lost += segment === from.segment ? Math.max(0, size - from.at) : size;
        remove(segment);
      }
      return lost;
    },
  };
}

interface FoundRecords {
  readonly columns: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
}

/** Null without a complete header. */
function recordsOf(directory: string, segment: number, at: number): FoundRecords | null {
  const reader = openSegmentReader(directory, segment);
  if (reader === undefined) return null;
  try {
    const { next, records } = reader.read(at);
    const from = records[0]?.at ?? next;
    return { columns: reader.columns, from, to: next, bytes: bytesOf(segmentPath(directory, segment), from, next) };
  } finally {
    reader.close();
  }
}

function bytesOf(path: string, from: number, to: number): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.allocUnsafeSlow(to - from);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}
