import { listAt } from "#kernel/lists.ts";

/** Records of files that have no room on the disk, until they are taken; a file itself is there, empty, so that its number is not used again. */
export interface MemoryRecords {
  has(segment: number): boolean;
  /** False if memory is full too. */
  append(segment: number, records: Uint8Array): boolean;
  /** Whole records from the offset on, about `limit` bytes. */
  read(segment: number, at: number, limit: number): Buffer;
  /** Forgets records before the offset. */
  release(segment: number, at: number): void;
}

interface Part {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export function createMemoryRecords(bytesMax: number): MemoryRecords {
  const segments = new Map<number, Part[]>();
  let held = 0;
  const endOf = (part: Part | undefined): number => (part === undefined ? 0 : part.at + part.bytes.length);
  return {
    has: (segment) => segments.has(segment),
    append: (segment, bytes) => {
      if (held + bytes.length > bytesMax) return false;
      const parts = listAt(segments, segment);
      parts.push({ at: endOf(parts.at(-1)), bytes });
      held += bytes.length;
      return true;
    },
    read: (segment, at, limit) => {
      const found: Uint8Array[] = [];
      let bytes = 0;
      for (const part of segments.get(segment) ?? []) {
        if (endOf(part) <= at) continue;
        if (bytes > 0 && bytes + part.bytes.length > limit) break;
        found.push(part.bytes.subarray(Math.max(0, at - part.at)));
        bytes += part.bytes.length;
      }
      return Buffer.concat(found);
    },
    release: (segment, at) => {
      const parts = segments.get(segment);
      if (parts === undefined) return;
      const left = parts.filter((part) => endOf(part) > at);
      held = held - sizeOf(parts) + sizeOf(left);
      // An empty part says where the next one begins.
      if (at === Infinity) segments.delete(segment);
      else segments.set(segment, left.length > 0 ? left : [{ at: endOf(parts.at(-1)), bytes: Buffer.alloc(0) }]);
    },
  };
}

const sizeOf = (parts: readonly Part[]): number => parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
