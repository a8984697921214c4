/** Holds what one read of an origin leads to, and the frames' heads. */
export const CHUNK_BYTES = 73_728;
/** Of little that waits: many streams may each have some of it. */
export const SMALL_CHUNK_BYTES = 4_096;

/** Buffers of one size that connections of a thread use in turns: a new one for each use would cost more in garbage than all that is in them. */
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

  /** Nobody reads or writes the buffer any more. */
  give(buffer: Buffer): void {
    if (this.spare.length < this.spareMax) this.spare.push(buffer);
  }
}

export const chunkPool = new ChunkPool(CHUNK_BYTES, 8_388_608);
export const smallChunkPool = new ChunkPool(SMALL_CHUNK_BYTES, 1_048_576);
