/**
 * Immutable bytes in the order of their arrival. Chunks that are adjacent in memory, such as those of one response, are
 * joined, so that a stream of many small chunks costs little memory.
 */
export class ChunkList {
  length = 0;
  #closed: Buffer[] = NONE;
  /** The start of the last chunk, the memory that holds it, and its end there, which may grow. */
  #last: Buffer | null = null;
  #memory: ArrayBufferLike | null = null;
  #end = 0;

  push(bytes: Buffer): void {
    const { buffer, byteOffset, length } = bytes;
    this.length += length;
    if (byteOffset === this.#end && buffer === this.#memory) {
      this.#end += length;
      return;
    }
    if (this.#last !== null) this.#close(this.#last);
    this.#last = bytes;
    this.#memory = buffer;
    this.#end = byteOffset + length;
  }

  #close(last: Buffer): void {
    if (this.#closed === NONE) this.#closed = [];
    this.#closed.push(grown(last, this.#end));
  }

  /** The number of chunks. */
  get count(): number {
    return this.#closed.length + (this.#last === null ? 0 : 1);
  }

  /** All chunks, without a copy. */
  all(): readonly Buffer[] {
    return this.#last === null ? NONE : [...this.#closed, grown(this.#last, this.#end)];
  }

  /** All chunks joined; copied if there are several. */
  joined(): Buffer {
    if (this.#last !== null && this.#closed.length === 0) return grown(this.#last, this.#end);
    return Buffer.concat(this.all(), this.length);
  }

  clear(): void {
    this.length = this.#end = 0;
    this.#closed = NONE;
    this.#last = this.#memory = null;
  }
}

const NONE: Buffer[] = [];

/** The chunk that starts with these bytes and ends at `end`. */
function grown(first: Buffer, end: number): Buffer {
  const length = end - first.byteOffset;
  return length === first.length ? first : Buffer.from(first.buffer, first.byteOffset, length);
}
