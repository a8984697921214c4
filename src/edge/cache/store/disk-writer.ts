import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm, writeFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { BLOCK_BYTES, bodyIn, describe, describedIn } from "./disk-files.ts";
import type { StoredResponse } from "./stored-response.ts";

/** Writes one body to disk as it comes; what is not finished is never found. */
export interface DiskWriter {
  /** The bytes are copied. */
  append(buffer: Buffer, start: number, end: number): void;
  readonly length: number;
  /** Bytes that were taken and are not written yet. */
  readonly pendingBytes: number;
  /** Called whenever something was written. */
  onWritten: () => void;
  /** Gives the name and what is kept of it, or null where it could not be written. */
  finish(
    describeAs: (length: number) => StoredResponse,
  ): Promise<{ readonly id: string; readonly checks: readonly number[]; readonly described: number } | null>;
  abort(): void;
  /** Resolves when nothing more is written. */
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
  let last: Promise<void> = open(bodyIn(directory, id), "wx").then(
    (opened) => void (handle = opened),
    (error: unknown) => fail(error),
  );

  const { promise: done, resolve: end } = Promise.withResolvers<void>();
  const fail = (error: unknown): void => {
    if (!isAborted) onError(error);
    isAborted = true;
  };
  /** One write after the other, each of a whole block but the last. */
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

/** Found only whole: under its own name once all of it is there. */
export async function writeDescribed(directory: string, id: string, text: string): Promise<void> {
  const path = describedIn(directory, id);
  try {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  } catch (error) {
    // On a full disk there may be room for a beginning of it.
    await rm(`${path}.new`, { force: true });
    throw error;
  }
}
