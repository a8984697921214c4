import {
  ACK,
  CONTINUATION,
  ConnectionFault,
  DATA,
  END_HEADERS,
  END_STREAM,
  ERROR,
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  GOAWAY,
  HEADERS,
  PADDED,
  PING,
  PRIORITY,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WITH_PRIORITY,
} from "./codes.ts";

/** Gets the frames of a client. Bytes are valid only during the call. */
export interface FrameSink {
  /** A DATA frame begins. `length` counts for the windows, padding included. */
  onDataFrame(stream: number, length: number): void;
  /** Payload of that frame, in the pieces in which it arrived. */
  onData(buffer: Buffer, start: number, end: number): void;
  onDataFrameEnd(endsStream: boolean): void;
  /** The header block of this stream is longer than anyone reads. Throws the fault. */
  onLongHeaders(stream: number): never;
  /** A whole header block. */
  onHeaders(stream: number, endsStream: boolean, buffer: Buffer, start: number, end: number): void;
  onReset(stream: number, code: number): void;
  onSettings(buffer: Buffer, start: number, end: number): void;
  onSettingsAck(): void;
  onPing(buffer: Buffer, start: number): void;
  onGoaway(code: number): void;
  onWindowUpdate(stream: number, increment: number): void;
  /** A frame without effect, or a piece of a header block. May throw a fault if too many of them come. */
  onIdleFrame(): void;
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
/** Frames of one header block: smaller ones cost more than their contents (CVE-2024-27316). */
const CONTINUATIONS_MAX = 32;

const IN_PREFACE = 0;
const IN_HEAD = 1;
/** Collects the whole payload. */
const IN_PAYLOAD = 2;
const IN_DATA = 3;
/** Skips padding, and frames of unknown types (RFC 9113 §4.1). */
const IN_REST = 4;

const EMPTY = Buffer.alloc(0);

/** Splits a client's bytes into frames, and checks each frame by itself (RFC 9113 §4 and §6). Throws `ConnectionFault`. */
export class FrameReader {
  /** Nothing more is read. */
  isStopped = false;
  /** Nothing more is read in this call. */
  isHeld = false;
  private readonly sink: FrameSink;
  private readonly blockBytesMax: number;
  private phase = IN_PREFACE;
  /** Collected bytes of the preface, of a frame's head, or of a payload that is needed as a whole. */
  private held: Buffer = EMPTY;
  private heldLength = 0;
  private type = 0;
  private flags = 0;
  private stream = 0;
  /** Bytes of the frame's payload that have not come, or were not handed on. */
  private left = 0;
  private padding = 0;
  private isFirst = true;
  /** The stream whose header block is incomplete; 0 for none. */
  private blockStream = 0;
  private blockEndsStream = false;
  private block: Buffer = EMPTY;
  private continuations = 0;

  constructor(sink: FrameSink, blockBytesMax: number) {
    this.sink = sink;
    this.blockBytesMax = blockBytesMax;
  }

  /** Takes `buffer[start, end)`, and returns how far it has read: to the end, unless the sink has held or stopped it. */
  feed(buffer: Buffer, start: number, end: number): number {
    let at = start;
    this.isHeld = false;
    while (at < end && !this.isStopped && !this.isHeld) {
      if (this.phase === IN_HEAD) at = this.readHead(buffer, at, end);
      else if (this.phase === IN_PAYLOAD) at = this.readPayload(buffer, at, end);
      else if (this.phase === IN_DATA) at = this.readData(buffer, at, end);
      else if (this.phase === IN_REST) at = this.skip(at, end);
      else at = this.readPreface(buffer, at, end);
    }
    return at;
  }

  private readPreface(buffer: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && this.heldLength < PREFACE.length)
      if (buffer[at++] !== PREFACE[this.heldLength++]) throw new ConnectionFault(ERROR.protocol, "not the preface");
    if (this.heldLength === PREFACE.length) this.await(IN_HEAD);
    return at;
  }

  private await(phase: number): void {
    this.phase = phase;
    this.heldLength = 0;
    this.held = EMPTY;
  }

  private readHead(buffer: Buffer, start: number, end: number): number {
    if (this.heldLength === 0 && end - start >= FRAME_HEAD_BYTES) {
      this.takeHead(buffer, start);
      return this.beginPayload(buffer, start + FRAME_HEAD_BYTES, end);
    }
    const at = this.hold(buffer, start, end, FRAME_HEAD_BYTES);
    if (this.heldLength < FRAME_HEAD_BYTES) return at;
    this.takeHead(this.held, 0);
    this.heldLength = 0;
    return this.beginPayload(buffer, at, end);
  }

  /** Collects bytes until there are `wanted` of them. */
  private hold(buffer: Buffer, start: number, end: number, wanted: number): number {
    if (this.held.length < wanted) this.held = Buffer.allocUnsafe(wanted);
    const taken = Math.min(end - start, wanted - this.heldLength);
    buffer.copy(this.held, this.heldLength, start, start + taken);
    this.heldLength += taken;
    return start + taken;
  }

  private takeHead(buffer: Buffer, at: number): void {
    const length = (buffer[at]! << 16) | (buffer[at + 1]! << 8) | buffer[at + 2]!;
    const type = buffer[at + 3]!;
    this.type = type;
    this.flags = buffer[at + 4]!;
    this.stream = ((buffer[at + 5]! & 0x7f) << 24) | (buffer[at + 6]! << 16) | (buffer[at + 7]! << 8) | buffer[at + 8]!;
    this.left = length;
    if (length > FRAME_BYTES_MAX) throw new ConnectionFault(ERROR.frameSize, "a frame is too long");
    if (this.isFirst && (type !== SETTINGS || (this.flags & ACK) !== 0)) throw new ConnectionFault(ERROR.protocol, "settings come first");
    this.isFirst = false;
    const isContinued = this.blockStream !== 0;
    if (isContinued !== (type === CONTINUATION) || (isContinued && this.stream !== this.blockStream))
      throw new ConnectionFault(ERROR.protocol, "a header block is not continued, or none is");
    this.checkHead(type, length);
  }

  /** Checks the stream and the length of a frame of this type. */
  private checkHead(type: number, length: number): void {
    const scope = SCOPES[type];
    if (scope === undefined) return;
    if (scope.isOfStream !== null && (this.stream === 0) === scope.isOfStream)
      throw new ConnectionFault(ERROR.protocol, "a frame of the wrong stream");
    if (type === PUSH_PROMISE) throw new ConnectionFault(ERROR.protocol, "a client promises nothing");
    const isWrong = type === GOAWAY ? length < scope.length : scope.length >= 0 && length !== scope.length;
    if (isWrong) throw new ConnectionFault(ERROR.frameSize, "a frame has the wrong length");
    if (type !== SETTINGS) return;
    if ((this.flags & ACK) !== 0 ? length !== 0 : length % 6 !== 0)
      throw new ConnectionFault(ERROR.frameSize, "settings of the wrong length");
  }

  private beginPayload(buffer: Buffer, start: number, end: number): number {
    const { type, left } = this;
    if (type === DATA) return this.beginData(buffer, start, end);
    if (SCOPES[type] === undefined) {
      this.sink.onIdleFrame();
      this.await(left === 0 ? IN_HEAD : IN_REST);
      return start;
    }
    this.phase = IN_PAYLOAD;
    return left === 0 ? this.endPayload(buffer, start, start) : this.readPayload(buffer, start, end);
  }

  private readPayload(buffer: Buffer, start: number, end: number): number {
    const length = this.left;
    if (this.heldLength === 0 && end - start >= length) return this.endPayload(buffer, start, start + length);
    const at = this.hold(buffer, start, end, length);
    if (this.heldLength === length) {
      const { held } = this;
      this.held = EMPTY;
      this.endPayload(held, 0, length);
    }
    return at;
  }

  private endPayload(buffer: Buffer, start: number, end: number): number {
    this.phase = IN_HEAD;
    this.heldLength = 0;
    this.dispatch(buffer, start, end);
    return end;
  }

  private dispatch(buffer: Buffer, start: number, end: number): void {
    const { sink, stream } = this;
    switch (this.type) {
      case HEADERS:
        return this.takeHeaders(buffer, start, end);
      case CONTINUATION:
        return this.takeContinuation(buffer, start, end);
      case PRIORITY:
        // Deprecated, and ignored here (RFC 9113 §5.3.2).
        return sink.onIdleFrame();
      case RST_STREAM:
        return sink.onReset(stream, buffer.readUInt32BE(start));
      case SETTINGS:
        return (this.flags & ACK) === 0 ? sink.onSettings(buffer, start, end) : sink.onSettingsAck();
      case PING:
        return (this.flags & ACK) === 0 ? sink.onPing(buffer, start) : sink.onIdleFrame();
      case GOAWAY:
        return sink.onGoaway(buffer.readUInt32BE(start + 4));
      default:
        return sink.onWindowUpdate(stream, buffer.readUInt32BE(start) & 0x7fff_ffff);
    }
  }

  private takeHeaders(buffer: Buffer, payloadStart: number, payloadEnd: number): void {
    const { flags, stream } = this;
    let start = payloadStart;
    let end = payloadEnd;
    if ((flags & PADDED) !== 0) {
      if (start === end) throw new ConnectionFault(ERROR.frameSize, "no room for the padding");
      end -= buffer[start++]!;
    }
    if ((flags & WITH_PRIORITY) !== 0) start += 5;
    if (start > payloadEnd) throw new ConnectionFault(ERROR.frameSize, "no room for the priority");
    if (end < start) throw new ConnectionFault(ERROR.protocol, "more padding than payload");
    const endsStream = (flags & END_STREAM) !== 0;
    if ((flags & END_HEADERS) !== 0) return this.sink.onHeaders(stream, endsStream, buffer, start, end);
    this.blockStream = stream;
    this.blockEndsStream = endsStream;
    this.continuations = 0;
    this.block = Buffer.from(buffer.subarray(start, end));
  }

  private takeContinuation(buffer: Buffer, start: number, end: number): void {
    const isLast = (this.flags & END_HEADERS) !== 0;
    if (++this.continuations > CONTINUATIONS_MAX || this.block.length + end - start > this.blockBytesMax)
      return this.sink.onLongHeaders(this.blockStream);
    const block = Buffer.concat([this.block, buffer.subarray(start, end)]);
    this.block = isLast ? EMPTY : block;
    if (!isLast) return;
    const stream = this.blockStream;
    this.blockStream = 0;
    this.sink.onHeaders(stream, this.blockEndsStream, block, 0, block.length);
  }

  private beginData(buffer: Buffer, start: number, end: number): number {
    const isPadded = (this.flags & PADDED) !== 0;
    if (isPadded && this.left === 0) throw new ConnectionFault(ERROR.frameSize, "no room for the padding");
    this.padding = isPadded ? -1 : 0;
    this.sink.onDataFrame(this.stream, this.left);
    this.phase = IN_DATA;
    if (this.left === 0) return this.endData(start);
    return start < end ? this.readData(buffer, start, end) : start;
  }

  private readData(buffer: Buffer, start: number, end: number): number {
    let at = start;
    if (this.padding < 0) {
      this.padding = buffer[at++]!;
      this.left--;
      if (this.padding > this.left) throw new ConnectionFault(ERROR.protocol, "more padding than payload");
      this.left -= this.padding;
    }
    const taken = Math.min(this.left, end - at);
    this.left -= taken;
    if (taken > 0) this.sink.onData(buffer, at, at + taken);
    return this.left === 0 ? this.endData(at + taken) : at + taken;
  }

  private endData(at: number): number {
    const { padding } = this;
    this.left = padding;
    this.phase = padding > 0 ? IN_REST : IN_HEAD;
    this.sink.onDataFrameEnd((this.flags & END_STREAM) !== 0);
    return at;
  }

  private skip(start: number, end: number): number {
    const taken = Math.min(this.left, end - start);
    this.left -= taken;
    if (this.left === 0) this.phase = IN_HEAD;
    return start + taken;
  }
}

interface Scope {
  /** Null for types of both streams and the connection. */
  readonly isOfStream: boolean | null;
  /** Length of the payload; for GOAWAY, the least; -1 where the contents decide. */
  readonly length: number;
}

/** By type. An error of a stream may be treated as one of the connection (RFC 9113 §5.4.1), as a malformed PRIORITY is here. */
const SCOPES: readonly (Scope | undefined)[] = [
  { isOfStream: true, length: -1 },
  { isOfStream: true, length: -1 },
  { isOfStream: true, length: 5 },
  { isOfStream: true, length: 4 },
  { isOfStream: false, length: -1 },
  { isOfStream: true, length: -1 },
  { isOfStream: false, length: 8 },
  { isOfStream: false, length: 8 },
  { isOfStream: null, length: 4 },
  { isOfStream: true, length: -1 },
];
