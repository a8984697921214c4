import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, writeSync, writevSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { ENTRY_COLUMNS, entryCells, type GatewayLogEntry, type GatewayLogSink } from "./entry.ts";
import { RECORD_HEAD_BYTES, ROW_BYTES_MAX, type SegmentHeader, segmentOf, segmentPath, writeRecordHead } from "./segment.ts";

export interface LogJournal extends GatewayLogSink {
  close(): void;
}

export interface LogJournalDeps {
  readonly directory: string;
  readonly metrics: MetricRegistry;
  readonly segmentBytesMax?: number;
}

const SEGMENT_BYTES_MAX = 64 * 1024 * 1024;
/** Records up to this size are gathered, so that one call writes them; the parts of larger ones are written in place. */
const SCRATCH_BYTES = 256 * 1024;

/**
 * The gateway's side of the segments: one thread writes to a directory. A record is in the kernel's hands when `append`
 * returns, so it survives the end of the process, not that of the machine. Every start begins a segment of its own, so
 * that nothing follows a torn record.
 */
export function createLogJournal({ directory, metrics, segmentBytesMax = SEGMENT_BYTES_MAX }: LogJournalDeps): LogJournal {
  const lost = metrics.counter("selvedge_gateway_logs_lost_total", "Gateway requests whose log could not be written");
  const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let segment = Math.max(0, ...readdirSync(directory).map((name) => segmentOf(name) ?? 0));
  let file: number | null = null;
  let size = 0;

  const begin = (): number => {
    const header: SegmentHeader = { columns: ENTRY_COLUMNS };
    const opened = openSync(segmentPath(directory, ++segment), "wx", 0o600);
    size = writeSync(opened, `${JSON.stringify(header)}\n`);
    return opened;
  };

  const end = (): void => {
    if (file !== null) closeSync(file);
    file = null;
  };

  return {
    append: (entry) => {
      try {
        if (file !== null && size >= segmentBytesMax) end();
        file ??= begin();
        const length = writeRecord(file, entry, scratch);
        size += length;
      } catch {
        lost.value++;
        // Half a record must not stand before another one.
        giveUp(file, size);
        end();
      }
    },
    close: end,
  };
}

function giveUp(file: number | null, size: number): void {
  try {
    if (file !== null) ftruncateSync(file, size);
  } catch {
    // The next segment begins without it; the reader stops at what it cannot read.
  }
}

/** Gives the record's length. Throws where not all of it could be written. */
function writeRecord(file: number, entry: GatewayLogEntry, scratch: Buffer): number {
  const cells = entryCells(entry);
  const responseBytes = entry.response.reduce((sum, chunk) => sum + chunk.length, 0);
  const requestBytes = entry.request?.length ?? 0;
  // Three bytes a character at most.
  if (RECORD_HEAD_BYTES + cells.length * 3 + requestBytes + responseBytes > scratch.length)
    return writeLargeRecord(file, entry, cells, requestBytes, responseBytes);
  const rowBytes = scratch.write(cells, RECORD_HEAD_BYTES, "utf8");
  let at = RECORD_HEAD_BYTES + rowBytes;
  if (entry.request !== null) at += entry.request.copy(scratch, at);
  for (const chunk of entry.response) at += chunk.copy(scratch, at);
  writeRecordHead(scratch, rowBytes, requestBytes, responseBytes);
  return written(writeSync(file, scratch, 0, at), at);
}

function writeLargeRecord(file: number, entry: GatewayLogEntry, cells: string, requestBytes: number, responseBytes: number): number {
  const rowBytes = Buffer.byteLength(cells);
  if (rowBytes > ROW_BYTES_MAX) throw new RangeError("a row is too large");
  const head = Buffer.allocUnsafe(RECORD_HEAD_BYTES + rowBytes);
  head.write(cells, RECORD_HEAD_BYTES, "utf8");
  const bodies = entry.request === null ? entry.response : [entry.request, ...entry.response];
  const bodiesCrc = bodies.reduce((crc, part) => crc32(part, crc), 0);
  writeRecordHead(head, rowBytes, requestBytes, responseBytes, bodiesCrc);
  const parts = [head, ...bodies];
  const length = head.length + requestBytes + responseBytes;
  let done = 0;
  // IOV_MAX is 1024.
  for (let i = 0; i < parts.length; i += 1024) done += writevSync(file, parts.slice(i, i + 1024));
  return written(done, length);
}

function written(done: number, length: number): number {
  if (done !== length) throw new Error(`${done} of ${length} bytes of a log could be written`);
  return length;
}
