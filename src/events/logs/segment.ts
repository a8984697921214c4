import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";

/**
 * Requests through gateways are written to segment files first: one record each, its row and bodies, before the last byte
 * of the answer is sent. The writer of the events database reads the rows from there. Therefore every record left by a
 * crash of the process is complete and unique; checksums detect a record damaged by a power cut.
 *
 * A segment begins with a line of JSON that names the cells of its rows (`SegmentHeader`). Records follow, numbers are
 * little endian:
 *
 *     0 magic  4 length of the record  8 of the row  12 of the request's body  16 checksum of 4 to 16 and the row
 *     20 checksum of the bodies  24 state  25 three zeros  28 row, request, response
 */
export const RECORD_HEAD_BYTES = 28;
const MAGIC = 0x31474c53;
/** An erased record keeps its length; all bytes after its head are zeros. */
export const STATE_AT = 24;
export const LIVE = 1;
export const ERASED = 0;

/** Limit of both bodies together that are kept of one request. */
export const BODIES_BYTES_MAX = 10 * 1024 * 1024;
export const ROW_BYTES_MAX = 256 * 1024;
const RECORD_BYTES_MAX = RECORD_HEAD_BYTES + ROW_BYTES_MAX + BODIES_BYTES_MAX;

export interface SegmentHeader {
  readonly columns: readonly string[];
}

export interface RecordHead {
  /** Length of the whole record. */
  readonly length: number;
  readonly rowBytes: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly rowCrc: number;
  readonly bodiesCrc: number;
  readonly isErased: boolean;
}

/** Segments with logs of nodes have higher numbers, and a directory below that of the gateway's own. */
export const FIRST_NODE_SEGMENT = 5_000_000_000;
export const nodeSegmentsIn = (directory: string): string => join(directory, "nodes");

export const segmentPath = (directory: string, segment: number): string =>
  join(segment < FIRST_NODE_SEGMENT ? directory : nodeSegmentsIn(directory), `${String(segment).padStart(10, "0")}.log`);

/** The number of a segment's file; undefined for any other file. */
export function segmentOf(name: string): number | undefined {
  const digits = /^(\d{10})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Values of a new record's head. */
interface RecordSizes {
  readonly rowBytes: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Checksum of bodies that do not follow the row. */
  readonly bodiesCrc?: number;
}

/** Writes a head at `at`; its row and, unless their checksum is given, its bodies already follow in `into`. */
export function writeRecordHead(into: Buffer, at: number, { rowBytes, requestBytes, responseBytes, bodiesCrc }: RecordSizes): void {
  const rowEnd = at + RECORD_HEAD_BYTES + rowBytes;
  const end = rowEnd + requestBytes + responseBytes;
  into.writeUInt32LE(MAGIC, at);
  into.writeUInt32LE(end - at, at + 4);
  into.writeUInt32LE(rowBytes, at + 8);
  into.writeUInt32LE(requestBytes, at + 12);
  into.writeUInt32LE(rowCrcOf(into, at, rowBytes), at + 16);
  into.writeUInt32LE(bodiesCrc ?? crc32(into.subarray(rowEnd, end)), at + 20);
  into.writeUInt32LE(LIVE, at + STATE_AT);
}

/** The head at `at`; undefined if the bytes are not a head. */
export function readRecordHead(from: Buffer, at: number): RecordHead | undefined {
  if (at + RECORD_HEAD_BYTES > from.length || from.readUInt32LE(at) !== MAGIC) return undefined;
  const length = from.readUInt32LE(at + 4);
  const rowBytes = from.readUInt32LE(at + 8);
  const requestBytes = from.readUInt32LE(at + 12);
  const responseBytes = length - RECORD_HEAD_BYTES - rowBytes - requestBytes;
  if (length > RECORD_BYTES_MAX || rowBytes > ROW_BYTES_MAX || responseBytes < 0) return undefined;
  const [rowCrc, bodiesCrc] = [from.readUInt32LE(at + 16), from.readUInt32LE(at + 20)];
  return { length, rowBytes, requestBytes, responseBytes, rowCrc, bodiesCrc, isErased: from[at + STATE_AT] === ERASED };
}

/** Checksum of the lengths and the row of the record at `at`. */
export const rowCrcOf = (from: Buffer, at: number, rowBytes: number): number =>
  crc32(from.subarray(at + RECORD_HEAD_BYTES, at + RECORD_HEAD_BYTES + rowBytes), crc32(from.subarray(at + 4, at + 16)));

/** Directory of the gateway's segments, beside the events database. */
export const logSegmentsOf = (eventsPath: string): string => join(dirname(eventsPath), "gateway-logs");
