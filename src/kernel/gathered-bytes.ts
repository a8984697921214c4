/** Smaller chunks are copied, once there are several: a separate small chunk would use many times its length. */
const PIECE_BYTES_MIN = 1024;
const PIECES_AS_THEY_COME = 32;
const ROOM_BYTES = 4096;
const ROOM_BYTES_MAX = 65_536;
const JOINED_BYTES_MAX = 16_384;

/**
 * Bytes collected until they are complete, from chunks of any size: memory follows their length, not the number of
 * chunks, which a sender chooses. Added chunks must not change afterwards.
 */
export class GatheredBytes {
  /** Bytes of all chunks. */
  length = 0;
  private pieces: Buffer[] = [];
  /** The last chunk if it has room, and the start of the room. */
  private room: Buffer | null = null;
  private filled = 0;

  push(piece: Buffer): void {
    const { length } = piece;
    if (length === 0) return;
    this.length += length;
    if (length >= PIECE_BYTES_MIN || this.pieces.length < PIECES_AS_THEY_COME) {
      this.close();
      this.pieces.push(piece);
      return;
    }
    if (this.room === null || this.filled + length > this.room.length) this.open(length);
    this.filled += piece.copy(this.room!, this.filled);
  }

  /** The chunks in order, packed. */
  list(): readonly Buffer[] {
    this.close();
    return this.pieces;
  }

  /** The chunks in order, packed, and in one piece if they are short; empties this object. */
  takeList(): readonly Buffer[] {
    const pieces = this.length > 0 && this.length <= JOINED_BYTES_MAX ? [this.joined()] : this.list();
    this.clear();
    return pieces;
  }

  /** All bytes in one buffer; a single chunk is not copied. */
  joined(): Buffer {
    const [first, second] = this.list();
    return first !== undefined && second === undefined ? first : Buffer.concat(this.pieces, this.length);
  }

  clear(): void {
    this.length = this.filled = 0;
    this.pieces = [];
    this.room = null;
  }

  /** All bytes in one buffer; empties this object. */
  take(): Buffer {
    const all = this.joined();
    this.clear();
    return all;
  }

  private open(bytes: number): void {
    this.close();
    const grown = Math.min(Math.max(ROOM_BYTES, this.length), ROOM_BYTES_MAX);
    this.room = Buffer.allocUnsafeSlow(Math.max(bytes, grown));
  }

  private close(): void {
    if (this.room !== null) this.pieces.push(this.room.subarray(0, this.filled));
    this.room = null;
    this.filled = 0;
  }
}
