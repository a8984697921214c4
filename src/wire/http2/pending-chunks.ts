import { CHUNK_BYTES, chunkPool, SMALL_CHUNK_BYTES, smallChunkPool } from "./chunk-pool.ts";

/** Waiting bytes, in buffers of the thread's pools: each byte is copied once, however many follow. */
export class PendingChunks {
  /** Bytes that wait. */
  length = 0;
  /** Where the waiting bytes begin in the first chunk. */
  start = 0;
  private readonly chunks: Buffer[] = [];
  /** Where they end in the last chunk. */
  private lastEnd = 0;

  append(buffer: Buffer, start: number, end: number): void {
    this.length += end - start;
    let at = start;
    while (at < end) {
      const last = this.chunks.at(-1);
      const room = last === undefined ? 0 : last.length - this.lastEnd;
      if (last === undefined || room === 0) {
        this.chunks.push(end - at > SMALL_CHUNK_BYTES ? chunkPool.take() : smallChunkPool.take());
        this.lastEnd = 0;
        continue;
      }
      const length = Math.min(room, end - at);
      buffer.copy(last, this.lastEnd, at, at + length);
      this.lastEnd += length;
      at += length;
    }
  }

  /** The first waiting bytes are `buffer[start, end)`. */
  get buffer(): Buffer {
    return this.chunks[0]!;
  }

  get end(): number {
    return this.chunks.length === 1 ? this.lastEnd : this.chunks[0]!.length;
  }

  /** Removes the first `bytes` of `buffer[start, end)`. */
  drop(bytes: number): void {
    this.length -= bytes;
    this.start += bytes;
    if (this.start === this.end) this.giveFirst();
  }

  clear(): void {
    while (this.chunks.length > 0) this.giveFirst();
    this.length = 0;
  }

  private giveFirst(): void {
    const first = this.chunks.shift()!;
    this.start = 0;
    if (first.length === CHUNK_BYTES) chunkPool.give(first);
    else smallChunkPool.give(first);
  }
}
