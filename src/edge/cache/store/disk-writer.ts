import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm, writeFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { BLOCK_BYTES, bodyIn, describe, describedIn, FILE_MODE } from "./disk-files.ts";
import type { StoredResponse } from "./stored-response.ts";

/** Writes one body to disk as it arrives; an unfinished body is never found. */
export interface DiskWriter {
  /** Copies the bytes. */
  append(buffer: Buffer, start: number, end: number): void;
  readonly length: number;
  /** Bytes received but not written. */
  readonly pendingBytes: number;
  /** Called after each write. */
  onWritten: () => void;
  /** Returns the name and description, or null if writing failed. */
  finish(
    describeAs: (length: number) => StoredResponse,
  ): Promise<{ readonly id: string; readonly checks: readonly number[]; readonly described: number } | null>;
  abort(): void;
  /** Resolves when all writes have ended. */
  readonly done: Promise<void>;
}

export function createDiskWriter(directory: string, onError: (error: unknown) => void): DiskWriter {
  const id = randomBytes(12).toString("hex");
  const checks: number[] = [];
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let filled = 0;
  let length = 0;
  let pendingBytes = 0;
  let isAborted = false;
  let handle: FileHandle | null = null;
  let last: Promise<void> = open(bodyIn(directory, id), "wx", FILE_MODE).then(
    (opened) => void (handle = opened),
    (error: unknown) => fail(error),
  );

  const { promise: done, resolve: end } = Promise.withResolvers<void>();
  const fail = (error: unknown): void => {
    if (!isAborted) onError(error);
    isAborted = true;
  };
  /** One write at a time, each of a whole block except the last. */
  const writeBlock = (bytes: Buffer): void => {
    checks.push(crc32(bytes));
    pendingBytes += bytes.length;
    last = last.then(async () => {
      try {
        if (!isAborted) await handle?.writeFile(bytes);
      } catch (error) {
        fail(error);
      }
      pendingBytes -= bytes.length;
      writer.onWritten();
    });
  };
  const removeFiles = async (): Promise<void> => {
    await handle?.close().catch(() => undefined);
    handle = null;
    await Promise.all([rm(bodyIn(directory, id), { force: true }), rm(describedIn(directory, id), { force: true })]).catch(onError);
  };

  const writer: DiskWriter = {
    append: (buffer, start, end) => {
      for (let at = start; at < end && !isAborted;) {
        const copied = buffer.copy(block, filled, at, end);
        filled += copied;
        length += copied;
        at += copied;
        if (filled < BLOCK_BYTES) continue;
        writeBlock(block);
        block = Buffer.allocUnsafe(BLOCK_BYTES);
        filled = 0;
      }
    },
    get length() {
      return length;
    },
    get pendingBytes() {
      return pendingBytes;
    },
    onWritten: () => {},
    finish: async (describeAs) => {
      if (filled > 0) writeBlock(block.subarray(0, filled));
      await last;
      try {
        if (!isAborted) {
          await handle?.close();
          handle = null;
          const text = describe(describeAs(length), checks);
          await writeDescribed(directory, id, text);
          if (!isAborted) {
            end();
            return { id, checks, described: text.length };
          }
        }
      } catch (error) {
        fail(error);
      }
      await removeFiles();
      end();
      return null;
    },
    abort: () => {
      isAborted = true;
      void last.then(removeFiles).then(end);
    },
    done,
  };
  return writer;
}

/** Writes to a temporary name and renames, so that only complete files are found. */
export async function writeDescribed(directory: string, id: string, text: string): Promise<void> {
  const path = describedIn(directory, id);
  try {
    await writeFile(`${path}.new`, text, { mode: FILE_MODE });
    await rename(`${path}.new`, path);
  } catch (error) {
    // A full disk may leave a partial file.
    await rm(`${path}.new`, { force: true });
    throw error;
  }
}
