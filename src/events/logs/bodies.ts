import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { ERASED, readRecordHead, RECORD_HEAD_BYTES, type RecordHead, segmentPath, STATE_AT } from "./segment.ts";

/** Place of a row's bodies. */
export interface BodyOffset {
  readonly segment: number;
  readonly at: number;
}

export interface LogBodies {
  readonly request: Buffer;
  readonly response: Buffer;
}

/** The bodies in the segments. */
export interface LogBodyStore {
  /** Null if they are no longer kept, or a power cut damaged them. */
  read(place: BodyOffset): LogBodies | null;
  /** Overwrites row and bodies with zeros; rows already gone are skipped. */
  erase(places: readonly BodyOffset[]): void;
}

export const createLogBodyStore = (directory: string): LogBodyStore => ({
  read: ({ segment, at }) =>
    withFile(directory, segment, "r", (file) => {
      const head = headAt(file, at);
      if (head === undefined || head.isErased) return null;
      const bodies = Buffer.allocUnsafeSlow(head.requestBytes + head.responseBytes);
      readSync(file, bodies, 0, bodies.length, at + RECORD_HEAD_BYTES + head.rowBytes);
      return bodiesIn(bodies, head) ?? null;
    }),
  erase: (places) => {
    for (const [segment, group] of Map.groupBy(places, (place) => place.segment))
      withFile(directory, segment, "r+", (file) => {
        for (const { at } of group) eraseRecord(file, at);
        return null;
      });
  },
});

/** Undefined if the bytes differ from the written ones. */
export const bodiesIn = (bytes: Buffer, { requestBytes, bodiesCrc }: RecordHead): LogBodies | undefined =>
  crc32(bytes) === bodiesCrc ? { request: bytes.subarray(0, requestBytes), response: bytes.subarray(requestBytes) } : undefined;

function eraseRecord(file: number, at: number): void {
  const head = headAt(file, at);
  if (head === undefined) return;
  // The state first: a concurrent reader must not take zeros for a damaged record.
  writeSync(file, Buffer.of(ERASED), 0, 1, at + STATE_AT);
  for (let done = RECORD_HEAD_BYTES; done < head.length; done += ZEROS.length)
    writeSync(file, ZEROS, 0, Math.min(ZEROS.length, head.length - done), at + done);
}

const ZEROS = Buffer.alloc(64 * 1024);

function headAt(file: number, at: number): RecordHead | undefined {
  const bytes = Buffer.allocUnsafe(RECORD_HEAD_BYTES);
  return readSync(file, bytes, 0, bytes.length, at) === bytes.length ? readRecordHead(bytes, 0) : undefined;
}

/** Null if retention has removed the segment. */
function withFile<T>(directory: string, segment: number, flags: "r" | "r+", work: (file: number) => T | null): T | null {
  let file: number;
  try {
    file = openSync(segmentPath(directory, segment), flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}
