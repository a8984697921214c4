/** Below this a piece is copied, once there are several: by itself it would take up many times what is in it. */
const PIECE_BYTES_MIN = 1024;
const PIECES_AS_THEY_COME = 32;
const ROOM_BYTES = 4096;
const ROOM_BYTES_MAX = 65_536;

/**
 * Bytes gathered until they are whole, however small the pieces are in which they come: memory follows their length, not the
 * number of pieces, which a sender chooses. Pieces that are given must not change afterwards.
 */
export class GatheredBytes {
  /** Bytes of all pieces. */
  length = 0;
  private pieces: Buffer[] = [];
  /** The last of them where it has room, and where that begins. */
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

  /** The pieces in their order, packed. */
  list(): readonly Buffer[] {
    this.close();
    return this.pieces;
  }

  /** All of it in one; not copied where there is one. */
  joined(): Buffer {
    const [first, second] = this.list();
    return first !== undefined && second === undefined ? first : Buffer.concat(this.pieces, this.length);
  }

  clear(): void {
    this.length = this.filled = 0;
    this.pieces = [];
    this.room = null;
  }

  /** All of it in one; nothing is left here. */
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
