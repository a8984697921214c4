import { chunkPool } from "./chunk-pool.ts";
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  type ErrorCode,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  GOAWAY,
  HEADERS,
  PING,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from "./codes.ts";

/** A piece of a connection's output. Must be released after it was sent. */
export interface Chunk {
  readonly buffer: Buffer;
  length: number;
}

/** The frames of a connection that wait to be sent, in the order in which they were written. */
export class FrameWriter {
  /** Bytes that were not taken yet. */
  length = 0;
  /** Rises whenever written frames may be on their way: earlier frames can no longer be changed. */
  serial = 0;
  private chunk: Chunk | null = null;
  private full: Chunk[] = [];

  /** The next piece to send; null if none is left. */
  take(): Chunk | null {
    let taken = this.full.shift() ?? null;
    if (taken === null) {
      taken = this.chunk;
      this.chunk = null;
      this.serial++;
    }
    if (taken !== null) this.length -= taken.length;
    return taken;
  }

  /** Releases a piece that was sent, or never will be. */
  release({ buffer }: Chunk): void {
    chunkPool.give(buffer);
  }

  /** Drops everything that was not taken yet. */
  clear(): void {
    for (let chunk = this.take(); chunk !== null; chunk = this.take()) this.release(chunk);
  }

  /**
   * Writes a header block. Returns the position of its first frame, valid while `serial` stays the value from before the
   * call.
   */
  headers(stream: number, block: Buffer, length: number, endsStream: boolean): number {
    const flags = endsStream ? END_STREAM : 0;
    let from = Math.min(length, FRAME_BYTES_MAX);
    const at = this.frame(HEADERS, flags | (from === length ? END_HEADERS : 0), stream, from);
    this.bytes(block, 0, from);
    while (from < length) {
      const to = Math.min(length, from + FRAME_BYTES_MAX);
      this.frame(CONTINUATION, to === length ? END_HEADERS : 0, stream, to - from);
      this.bytes(block, from, to);
      from = to;
    }
    return at;
  }

  /** Writes a DATA frame of at most 16 KiB. Returns its position, valid while `serial` stays the value from after the call. */
  data(stream: number, buffer: Buffer, start: number, end: number): number {
    const at = this.frame(DATA, 0, stream, end - start);
    this.bytes(buffer, start, end);
    return at;
  }

  /**
   * Appends to the DATA frame at this position. Returns false if it is not a DATA frame, or not the last frame, or would
   * become too long.
   */
  extend(at: number, buffer: Buffer, start: number, end: number): boolean {
    const chunk = this.chunk!;
    const { buffer: bytes } = chunk;
    const length = chunk.length - at - FRAME_HEAD_BYTES;
    const longer = length + end - start;
    const isLast = ((bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!) === length;
    if (!isLast || bytes[at + 3] !== DATA || longer > FRAME_BYTES_MAX || chunk.length + end - start > bytes.length) return false;
    bytes[at] = longer >> 16;
    bytes[at + 1] = longer >> 8;
    bytes[at + 2] = longer;
    this.bytes(buffer, start, end);
    return true;
  }

  /** Ends a stream with an empty DATA frame. */
  end(stream: number): void {
    this.frame(DATA, END_STREAM, stream, 0);
  }

  /** Marks the frame at this position as the last of its stream. */
  endStreamAt(at: number): void {
    this.chunk!.buffer[at + 4]! |= END_STREAM;
  }

  reset(stream: number, code: ErrorCode): void {
    this.frame(RST_STREAM, 0, stream, 4);
    this.uint32(code);
  }

  settings(values: readonly (readonly [setting: number, value: number])[]): void {
    this.frame(SETTINGS, 0, 0, values.length * 6);
    for (const [setting, value] of values) {
      const { chunk } = this;
      chunk!.length = chunk!.buffer.writeUInt16BE(setting, chunk!.length);
      this.length += 2;
      this.uint32(value);
    }
  }

  settingsAck(): void {
    this.frame(SETTINGS, ACK, 0, 0);
  }

  /** Answers a PING with its eight bytes. */
  pong(buffer: Buffer, start: number): void {
    this.frame(PING, ACK, 0, 8);
    this.bytes(buffer, start, start + 8);
  }

  goaway(lastStream: number, code: ErrorCode): void {
    this.frame(GOAWAY, 0, 0, 8);
    this.uint32(lastStream);
    this.uint32(code);
  }

  windowUpdate(stream: number, increment: number): void {
    this.frame(WINDOW_UPDATE, 0, stream, 4);
    this.uint32(increment);
  }

  /** Writes the head of a frame where the whole frame has room. Returns its position. */
  private frame(type: number, flags: number, stream: number, length: number): number {
    const chunk = this.room(FRAME_HEAD_BYTES + length);
    const { buffer, length: at } = chunk;
    buffer[at] = length >> 16;
    buffer[at + 1] = length >> 8;
    buffer[at + 2] = length;
    buffer[at + 3] = type;
    buffer[at + 4] = flags;
    buffer[at + 5] = stream >> 24;
    buffer[at + 6] = stream >> 16;
    buffer[at + 7] = stream >> 8;
    buffer[at + 8] = stream;
    chunk.length = at + FRAME_HEAD_BYTES;
    this.length += FRAME_HEAD_BYTES;
    return at;
  }

  private room(bytes: number): Chunk {
    const { chunk } = this;
    if (chunk !== null && chunk.length + bytes <= chunk.buffer.length) return chunk;
    if (chunk !== null) {
      this.full.push(chunk);
      this.serial++;
    }
    return (this.chunk = { buffer: chunkPool.take(), length: 0 });
  }

  private bytes(buffer: Buffer, start: number, end: number): void {
    const chunk = this.chunk!;
    buffer.copy(chunk.buffer, chunk.length, start, end);
    chunk.length += end - start;
    this.length += end - start;
  }

  private uint32(value: number): void {
    const chunk = this.chunk!;
    chunk.length = chunk.buffer.writeUInt32BE(value, chunk.length);
    this.length += 4;
  }
}
