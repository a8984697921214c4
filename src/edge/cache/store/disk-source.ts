import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { BodySource } from "./body-source.ts";
import { BLOCK_BYTES, bodyIn } from "./disk-files.ts";
import type { StoredResponse } from "./stored-response.ts";

/** A body on disk, read block by block. */
export interface DiskSource extends BodySource {
  /** Reads the block at an offset ahead. Returns false if its checksum is wrong. */
  prepare(offset: number): Promise<boolean>;
  close(): void;
}

/** Calls `onMore` when a requested block is available, `onBroken` if the body is unreadable. */
export function createDiskSource(directory: string, response: StoredResponse, onMore: () => void, onBroken: () => void): DiskSource {
  const { id, checks } = response.file!;
  let handle: FileHandle | null = null;
  let block: Buffer | null = null;
  let index = -1;
  let isReading = false;
  let isClosed = false;

  const read = async (wanted: number): Promise<boolean> => {
    isReading = true;
    try {
      handle ??= await open(bodyIn(directory, id), "r");
      const at = wanted * BLOCK_BYTES;
      const bytes = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, response.length - at));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, at);
      if (bytesRead !== bytes.length || crc32(bytes) !== checks[wanted]) return false;
      block = bytes;
      index = wanted;
      return true;
    } catch {
      return false;
    } finally {
      isReading = false;
      if (isClosed) close();
    }
  };
  const close = (): void => {
    isClosed = true;
    // The running read closes the file when it ends.
    if (isReading) return;
    void handle?.close().catch(() => undefined);
    handle = null;
  };

  return {
    prepare: (offset) => read(Math.floor(offset / BLOCK_BYTES)),
    from: (offset) => {
      const wanted = Math.floor(offset / BLOCK_BYTES);
      if (block !== null && index === wanted) return block.subarray(offset - index * BLOCK_BYTES);
      if (!isReading && !isClosed) void read(wanted).then((isGood) => (isClosed ? undefined : isGood ? onMore() : onBroken()));
      return null;
    },
    close,
  };
}
