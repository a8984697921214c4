import { closeSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";

/** Before each record: its length and checksum. */
export const SPOOL_HEAD_BYTES = 8;

/** Records of a batch, each without its head. Throws a RangeError if the bytes are something else. */
export function spoolRecords(bytes: Uint8Array): readonly Uint8Array[] {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: Uint8Array[] = [];
  for (let at = 0; at < from.length;) {
    const end = endOfRecord(from, at);
    if (end < 0) throw new RangeError("a record is damaged");
    records.push(from.subarray(at + SPOOL_HEAD_BYTES, end));
    at = end;
  }
  return records;
}

export function headOf(record: Uint8Array): Buffer {
  const head = Buffer.alloc(SPOOL_HEAD_BYTES);
  head.writeUInt32LE(record.length, 0);
  head.writeUInt32LE(crc32(record), 4);
  return head;
}

/** -1 if no complete record begins there. */
function endOfRecord(from: Buffer, at: number): number {
  const start = at + SPOOL_HEAD_BYTES;
  if (start > from.length) return -1;
  const end = start + from.readUInt32LE(at);
  return end > from.length || crc32(from.subarray(start, end)) !== from.readUInt32LE(at + 4) ? -1 : end;
}

/** Complete records, at least one if it is whole, of a file with this size. */
export function recordsOf(path: string, at: number, size: number, limit: number): Buffer {
  if (at + SPOOL_HEAD_BYTES > size) return Buffer.alloc(0);
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(SPOOL_HEAD_BYTES);
    readSync(file, head, 0, head.length, at);
    const bytes = Buffer.alloc(Math.min(size - at, Math.max(limit, SPOOL_HEAD_BYTES + head.readUInt32LE(0))));
    const read = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
    let end = 0;
    for (let next = endOfRecord(read, 0); next > 0; next = endOfRecord(read, end)) end = next;
    return read.subarray(0, end);
  } finally {
    closeSync(file);
  }
}
