/**
 * Frames of a connection between a connector and the edge: a head of eight bytes (kind, 24 bits of length, 32 bits of stream)
 * and as many bytes. Stream 0 is the connection itself.
 */
export const FRAME = {
  /** Connector: who it is, as JSON. The first frame. */
  hello: 1,
  /** Edge: the connection is accepted; or why it is not. */
  welcome: 2,
  refused: 3,
  /** Edge: the rules of the tunnel, as JSON. */
  config: 4,
  /** Edge: a stream begins. Connector: it is served. */
  open: 5,
  accept: 6,
  /** Bytes of a stream, within the window that its receiver has given. */
  data: 7,
  /** No bytes follow on the stream from this side. */
  end: 8,
  /** The stream is over; nothing of it is read any more. */
  reset: 9,
  /** The receiver has room for so many more bytes. */
  window: 10,
  ping: 11,
  pong: 12,
  /** No new streams: this side ends when the open ones have. */
  drain: 13,
  /** Connector: it has applied this version of the rules, as text. */
  applied: 14,
} as const;

/** Bytes that a side may send on a new stream before it is given more. */
export const STREAM_WINDOW_BYTES = 262_144;
/** The receiver gives room again once it has read this much. */
export const WINDOW_STEP_BYTES = STREAM_WINDOW_BYTES / 2;
/** Streams of a connection. */
export const STREAMS_MAX = 256;
/** Longest frame that is not data. */
export const CONTROL_BYTES_MAX = 262_144;
const HEAD_BYTES = 8;
const LENGTH_MAX = 0xff_ffff;

/** The other side broke the protocol. */
export class TunnelFault extends Error {}

const byte = (value: number): string => String.fromCharCode(value & 0xff);

/** The head of a frame, one character per byte. */
export const frameHead = (kind: number, stream: number, length: number): string =>
  byte(kind) +
  byte(length >> 16) +
  byte(length >> 8) +
  byte(length) +
  byte(stream >>> 24) +
  byte(stream >>> 16) +
  byte(stream >>> 8) +
  byte(stream);

export const windowFrame = (stream: number, bytes: number): string =>
  frameHead(FRAME.window, stream, 4) + byte(bytes >>> 24) + byte(bytes >>> 16) + byte(bytes >>> 8) + byte(bytes);

/** Bytes are valid only during the call. */
export interface FrameHandler {
  readonly isOver: boolean;
  onFrame(kind: number, stream: number, payload: Buffer): void;
  /** A part of a data frame, as it came. */
  onData(stream: number, buffer: Buffer, start: number, end: number): void;
}

/** Splits bytes into frames. Data is handed on in the pieces in which it comes. */
export class TunnelFrameReader {
  /** Longest frame that is not data; more from those who have shown who they are. */
  controlBytesMax = 8_192;
  private readonly handler: FrameHandler;
  private readonly head = Buffer.alloc(HEAD_BYTES);
  private headBytes = 0;
  private kind = 0;
  private stream = 0;
  /** Bytes of the current frame that have not come. */
  private left = 0;
  private control: Buffer | null = null;
  private controlBytes = 0;

  constructor(handler: FrameHandler) {
    this.handler = handler;
  }

  /** Throws TunnelFault. */
  feed(buffer: Buffer, length: number): void {
    let at = 0;
    while (at < length && !this.handler.isOver) {
      if (this.headBytes < HEAD_BYTES) {
        at = this.readHead(buffer, at, length);
        continue;
      }
      const end = Math.min(length, at + this.left);
      this.take(buffer, at, end);
      at = end;
    }
  }

  private readHead(buffer: Buffer, at: number, length: number): number {
    const end = Math.min(length, at + HEAD_BYTES - this.headBytes);
    buffer.copy(this.head, this.headBytes, at, end);
    this.headBytes += end - at;
    if (this.headBytes < HEAD_BYTES) return end;
    this.kind = this.head[0]!;
    this.left = this.head.readUIntBE(1, 3);
    this.stream = this.head.readUInt32BE(4);
    if (this.kind !== FRAME.data) {
      if (this.left > this.controlBytesMax) throw new TunnelFault("a frame is too long");
      this.control = Buffer.allocUnsafe(this.left);
      this.controlBytes = 0;
    }
    if (this.left === 0) this.finish();
    return end;
  }

  private take(buffer: Buffer, start: number, end: number): void {
    this.left -= end - start;
    const { control, left } = this;
    if (control === null) {
      // Before the call: the handler may end everything.
      if (left === 0) this.headBytes = 0;
      this.handler.onData(this.stream, buffer, start, end);
      return;
    }
    buffer.copy(control, this.controlBytes, start, end);
    this.controlBytes += end - start;
    if (left === 0) this.finish();
  }

  private finish(): void {
    const { control } = this;
    this.headBytes = 0;
    this.control = null;
    if (control !== null) this.handler.onFrame(this.kind, this.stream, control);
  }
}

/** The longest data frame. */
export const DATA_BYTES_MAX = LENGTH_MAX;
