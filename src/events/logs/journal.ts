import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, writeSync, writevSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { atTickEnd, type TickTask } from "#kernel/process/tick-queue.ts";
import { ENTRY_COLUMNS, entryCells, type GatewayLogEntry, type GatewayLogSink, type StoredWatcher } from "./entry.ts";
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
/**
 * Records are collected up to this size, so that one call writes all records of a tick; the parts of a larger one are
 * written in place.
 */
const GATHERED_BYTES = 256 * 1024;
const HEADER = Buffer.from(`${JSON.stringify({ columns: ENTRY_COLUMNS } satisfies SegmentHeader)}\n`);

/**
 * The gateway's side of the segments: one thread writes to a directory. Records appended in a tick are
 * in the kernel's hands at the end of that tick, and only then are their watchers called: the records survive the end of
 * the process, but not of the machine. Every start begins a new segment, so that no record follows a damaged one.
 */
export function createLogJournal({ directory, metrics, segmentBytesMax = SEGMENT_BYTES_MAX }: LogJournalDeps): LogJournal {
  const lost = metrics.counter("selvedge_gateway_logs_lost_total", "Gateway requests whose log record could not be written");
  const gathered = Buffer.allocUnsafeSlow(GATHERED_BYTES);
  let bytes = 0;
  let records = 0;
  let watchers: StoredWatcher[] = [];
  let isDue = false;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let segment = Math.max(0, ...readdirSync(directory).map((name) => segmentOf(name) ?? 0));
  let file: number | null = null;
  /** Bytes of the segment, or of the next one before it is opened. */
  let size = HEADER.length;

  /** While one process takes over from another, both begin segments. */
  const openUnused = (): number => {
    for (;;) {
      try {
        return openSync(segmentPath(directory, ++segment), "wx", 0o600);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  };
  const begin = (): number => {
    const opened = openUnused();
    writeSync(opened, HEADER);
    return opened;
  };

  const end = (): void => {
    if (file !== null) closeSync(file);
    file = null;
    size = HEADER.length;
  };

  /** `write` returns the length that it wrote for `count` records, and throws if it could not write all. */
  const write = (count: number, into: (file: number) => number): void => {
    try {
      file ??= begin();
      size += into(file);
    } catch {
      lost.value += count;
      // A partial record must not precede another one.
      giveUp(file, size);
      end();
    }
  };

  const flush = (): void => {
    if (bytes === 0) return;
    const [length, count] = [bytes, records];
    bytes = records = 0;
    write(count, (to) => written(writeSync(to, gathered, 0, length), length));
  };

  const add = (entry: GatewayLogEntry): void => {
    const cells = entryCells(entry);
    const responseBytes = entry.response.reduce((sum, chunk) => sum + chunk.length, 0);
    const requestBytes = entry.request?.length ?? 0;
    // At most three bytes per character.
    const lengthMax = RECORD_HEAD_BYTES + cells.length * 3 + requestBytes + responseBytes;
    if (size + bytes >= segmentBytesMax) {
      flush();
      end();
    }
    if (bytes + lengthMax > gathered.length) flush();
    if (lengthMax > gathered.length) return write(1, (to) => writeLargeRecord(to, entry, cells, requestBytes, responseBytes));
    bytes += gatherRecord(gathered, bytes, entry, cells, requestBytes, responseBytes);
    records++;
  };

  const onTickEnd = (): void => {
    isDue = false;
    flush();
    const told = watchers;
    watchers = [];
    for (const watcher of told) watcher.onKept();
  };
  const task: TickTask = { onTickEnd };

  return {
    append: (entry, watcher) => {
      add(entry);
      if (watcher !== undefined) watchers.push(watcher);
      if (isDue) return;
      isDue = true;
      atTickEnd(task);
    },
    close: () => {
      onTickEnd();
      end();
    },
  };
}

function giveUp(file: number | null, size: number): void {
  try {
    if (file !== null) ftruncateSync(file, size);
  } catch {
    // The next segment begins without it; the reader stops at unreadable data.
  }
}

/** Writes the record at `start`, which must have room for it; returns its length. */
function gatherRecord(
  into: Buffer,
  start: number,
  { request, response }: GatewayLogEntry,
  cells: string,
  requestBytes: number,
  responseBytes: number,
): number {
  const rowBytes = into.write(cells, start + RECORD_HEAD_BYTES, "utf8");
  let at = start + RECORD_HEAD_BYTES + rowBytes;
  if (request !== null) at += request.copy(into, at);
  for (const chunk of response) at += chunk.copy(into, at);
  writeRecordHead(into, start, { rowBytes, requestBytes, responseBytes });
  return at - start;
}

/** Returns the record's length. Throws if it could not be written completely. */
function writeLargeRecord(file: number, entry: GatewayLogEntry, cells: string, requestBytes: number, responseBytes: number): number {
  const rowBytes = Buffer.byteLength(cells);
  if (rowBytes > ROW_BYTES_MAX) throw new RangeError("a row is too large");
  const head = Buffer.allocUnsafe(RECORD_HEAD_BYTES + rowBytes);
  head.write(cells, RECORD_HEAD_BYTES, "utf8");
  const bodies = entry.request === null ? entry.response : [entry.request, ...entry.response];
  const bodiesCrc = bodies.reduce((crc, part) => crc32(part, crc), 0);
  writeRecordHead(head, 0, { rowBytes, requestBytes, responseBytes, bodiesCrc });
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
