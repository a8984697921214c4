const FIRST_CAPACITY = 4096;

/**
 * Bytes that wait for more bytes, or for processing. Growing doubles the capacity, so that a head that arrives byte by
 * byte is copied only a few times.
 */
export class PendingBytes {
  buffer: Buffer = EMPTY;
  start = 0;
  end = 0;

  get length(): number {
    return this.end - this.start;
  }

  /** Keeps a range. If it is already in this buffer, only the bounds change. */
  hold(buffer: Buffer, start: number, end: number): void {
    if (buffer === this.buffer) {
      this.start = start;
      this.end = end;
      return;
    }
    this.clear();
    this.append(buffer, start, end);
  }

  append(buffer: Buffer, start: number, end: number): void {
    const added = end - start;
    if (this.end + added > this.buffer.length) this.makeRoom(added);
    buffer.copy(this.buffer, this.end, start, end);
    this.end += added;
  }

  clear(): void {
    this.buffer = EMPTY;
    this.start = this.end = 0;
  }

  private makeRoom(added: number): void {
    const length = this.length;
    let capacity = Math.max(FIRST_CAPACITY, this.buffer.length);
    while (capacity < length + added) capacity *= 2;
    const roomier = Buffer.allocUnsafe(capacity);
    this.buffer.copy(roomier, 0, this.start, this.end);
    this.buffer = roomier;
    this.start = 0;
    this.end = length;
  }
}

const EMPTY = Buffer.alloc(0);
