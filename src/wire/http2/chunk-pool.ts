/** Holds the output of one read from an origin, and the heads of its frames. */
export const CHUNK_BYTES = 73_728;
/** For short waits: each of many streams may hold one. */
export const SMALL_CHUNK_BYTES = 4_096;

/** Spare bytes of a thread that stay, and that a busy time may leave. */
const KEPT_BYTES = 8_388_608;
const SPARE_BYTES_MAX = 67_108_864;
const SMALL_SPARE_BYTES = 1_048_576;
const TRIM_MS = 10_000;

interface SpareBounds {
  readonly keptBytes: number;
  readonly spareBytesMax: number;
  readonly trimMs: number;
}

/**
 * Buffers of one size that the connections of a thread use in turn: a new one for each use would cost more in garbage
 * than its contents, since V8 marks its whole heap once some megabytes of buffers were made. Buffers that were spare for a
 * whole interval are given back.
 */
export class ChunkPool {
  private readonly spare: Buffer[] = [];
  private readonly chunkBytes: number;
  private readonly keptMin: number;
  private readonly spareMax: number;
  private readonly trimMs: number;
  /** The fewest spare buffers since the last trim. */
  private unused = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(chunkBytes: number, { keptBytes, spareBytesMax, trimMs }: SpareBounds) {
    this.chunkBytes = chunkBytes;
    this.keptMin = Math.floor(keptBytes / chunkBytes);
    this.spareMax = Math.floor(spareBytesMax / chunkBytes);
    this.trimMs = trimMs;
  }

  take(): Buffer {
    const taken = this.spare.pop() ?? Buffer.allocUnsafeSlow(this.chunkBytes);
    if (this.spare.length < this.unused) this.unused = this.spare.length;
    return taken;
  }

  /** Takes back a buffer that is no longer read or written. */
  give(buffer: Buffer): void {
    if (this.spare.length >= this.spareMax) return;
    this.spare.push(buffer);
    if (this.spare.length > this.keptMin && this.timer === null) this.watch();
  }

  private watch(): void {
    this.unused = this.spare.length;
    this.timer = setTimeout(() => {
      this.spare.splice(0, Math.min(this.unused, this.spare.length - this.keptMin));
      this.timer = null;
      if (this.spare.length > this.keptMin) this.watch();
    }, this.trimMs);
    this.timer.unref();
  }
}

export const chunkPool = new ChunkPool(CHUNK_BYTES, { keptBytes: KEPT_BYTES, spareBytesMax: SPARE_BYTES_MAX, trimMs: TRIM_MS });
export const smallChunkPool = new ChunkPool(SMALL_CHUNK_BYTES, {
  keptBytes: SMALL_SPARE_BYTES,
  spareBytesMax: SMALL_SPARE_BYTES,
  trimMs: TRIM_MS,
});
