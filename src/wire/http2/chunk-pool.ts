/** Holds the output of one read from an origin, and the heads of its frames. */
export const CHUNK_BYTES = 73_728;
/** For short waits: each of many streams may hold one. */
export const SMALL_CHUNK_BYTES = 4_096;

/**
 * Buffers of one size that the connections of a thread use in turn: a new one for each use would cost more in garbage
 * than its contents.
 */
class ChunkPool {
  private readonly spare: Buffer[] = [];
  private readonly chunkBytes: number;
  private readonly spareMax: number;

  constructor(chunkBytes: number, spareBytesMax: number) {
    this.chunkBytes = chunkBytes;
    this.spareMax = Math.floor(spareBytesMax / chunkBytes);
  }

  take(): Buffer {
    return this.spare.pop() ?? Buffer.allocUnsafeSlow(this.chunkBytes);
  }

  /** Takes back a buffer that is no longer read or written. */
  give(buffer: Buffer): void {
    if (this.spare.length < this.spareMax) this.spare.push(buffer);
  }
}

export const chunkPool = new ChunkPool(CHUNK_BYTES, 8_388_608);
export const smallChunkPool = new ChunkPool(SMALL_CHUNK_BYTES, 1_048_576);
