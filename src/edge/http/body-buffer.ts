/** Bounds the size of a piece, so that the last one wastes little. Bytes. */
const CHUNK_BYTES_MAX = 262_144;
const FIRST_PIECE_BYTES = 16_384;

/** Collects a body whose parts are valid only during a call, in pieces that are not copied again. */
export class BodyBuffer {
  /** Full pieces, and the one being filled at the end. */
  private readonly pieces: Buffer[] = [];
  private filled = 0;
  length = 0;
  /** Bytes of memory in use. */
  allocated = 0;
  private readonly expected: number | null;
  private readonly firstPieceBytes: number;

  /** `expected`: the length if known, so that no memory is wasted. */
  constructor(expected: number | null, firstPieceBytes = FIRST_PIECE_BYTES) {
    this.expected = expected;
    this.firstPieceBytes = firstPieceBytes;
  }

  append(buffer: Buffer, start: number, end: number): void {
    for (let at = start; at < end;) {
      let last = this.pieces.at(-1);
      if (last === undefined || this.filled === last.length) {
        last = Buffer.allocUnsafeSlow(this.nextSize());
        this.pieces.push(last);
        this.allocated += last.length;
        this.filled = 0;
      }
      const copied = buffer.copy(last, this.filled, at, end);
      this.filled += copied;
      this.length += copied;
      at += copied;
    }
  }

  /** Bytes from an offset to the end of its piece; null if none have arrived yet. */
  from(offset: number): Buffer | null {
    return offset < this.length ? (chunkFrom(this.pieces, offset)?.subarray(0, this.length - offset) ?? null) : null;
  }

  /** The whole body. Nothing may be appended afterwards. */
  finish(): readonly Buffer[] {
    const last = this.pieces.pop();
    if (last !== undefined) this.pieces.push(this.filled === last.length ? last : exactCopy(last, this.filled));
    return this.pieces;
  }

  private nextSize(): number {
    if (this.expected !== null && this.expected > this.length) return Math.min(this.expected - this.length, CHUNK_BYTES_MAX);
    return Math.min(Math.max(this.firstPieceBytes, this.length), CHUNK_BYTES_MAX);
  }
}

function exactCopy(piece: Buffer, length: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(length);
  piece.copy(copy, 0, 0, length);
  return copy;
}

/** Bytes of a body from an offset to the end of its piece; null at the end of the body. */
export function chunkFrom(body: readonly Buffer[], offset: number): Buffer | null {
  let start = 0;
  for (const piece of body) {
    if (offset < start + piece.length) return offset === start ? piece : piece.subarray(offset - start);
    start += piece.length;
  }
  return null;
}
