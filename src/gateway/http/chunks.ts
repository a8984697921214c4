/**
 * Bytes that nobody changes, in the order in which they came. Those that lie side by side in memory, as the pieces of one
 * answer do, are kept as one, so that a stream of many small pieces costs little to keep.
 */
export class ChunkList {
  length = 0;
  #closed: Buffer[] = NONE;
  /** Where the last one begins, the memory it lies in, and its end there: it may grow. */
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

  /** How many there are. */
  get count(): number {
    return this.#closed.length + (this.#last === null ? 0 : 1);
  }

  /** All of them, without a copy. */
  all(): readonly Buffer[] {
    return this.#last === null ? NONE : [...this.#closed, grown(this.#last, this.#end)];
  }

  /** All of them in one; copied where they are several. */
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

/** The piece that begins with these bytes. */
function grown(first: Buffer, end: number): Buffer {
  const length = end - first.byteOffset;
  return length === first.length ? first : Buffer.from(first.buffer, first.byteOffset, length);
}
