import { TokenBucket } from "./token-bucket.ts";
import { CHUNK_BYTES } from "./chunk-pool.ts";
import { ClosedStreams } from "./closed-streams.ts";
import { ConnectionFault, ERROR, type ErrorCode, SETTING, WINDOW_BYTES_DEFAULT, WINDOW_BYTES_MAX } from "./codes.ts";
import { FrameReader, type FrameSink } from "./frame-reader.ts";
import { FrameWriter } from "./frame-writer.ts";
import { HpackDecoder } from "./hpack/decoder.ts";
import { blockBytes, HpackEncoder } from "./hpack/encoder.ts";
import { RequestFields, TrailerFields, UNWANTED_FIELDS } from "./request-fields.ts";
import { peerSettings, readSettings } from "./settings.ts";
import { ServerStream, type StreamSession } from "./stream.ts";
import type { WindowShare } from "./window-budget.ts";

export interface SessionLimits {
  readonly streamsMax: number;
  /** Bytes that each stream may send before they are taken, at first and at most: windows grow while bytes are taken. */
  readonly windowBytes: number;
  readonly windowBytesMax: number;
  /** Limits of a head: its bytes, counted as in RFC 9113 §6.5.2, and its fields. */
  readonly headBytesMax: number;
  readonly fieldsMax: number;
  /** Streams that a client may reset, or make us reset: at once, and further ones per second. */
  readonly resetsMax: number;
  readonly resetsPerSecond: number;
  /** True if a stream may become a WebSocket (RFC 8441). */
  readonly allowsWebSockets: boolean;
}

/** The owner of the connection. */
export interface SessionOwner {
  /** On a monotonic scale; may be slightly old. */
  readonly nowMs: number;
  /** A request's head, valid only during the call; it may be too large. The owner gives the stream its handler here. */
  onRequest(stream: ServerStream, fields: RequestFields): void;
  /** There is something to send, or more than before. */
  onOutput(): void;
  /** The client's settings came: the first ones, or others. */
  onSettled(): void;
  /** The client has acknowledged our settings. */
  onAcknowledged(): void;
  /** Further requests are refused, and the output says so. */
  onDraining(): void;
  /** The session is over; the rest of the output says so. */
  onFault(): void;
}

/**
 * Window of a connection. A connection holds no bytes itself: its streams bound the bytes they hold. So a stream that is
 * not read does not block the others, and this window does not bound the bytes in flight of all of them.
 */
const CONNECTION_WINDOW_BYTES = 16_777_216;
/** Further data waits in its stream, so that more urgent frames do not wait for it. */
const DATA_QUEUE_BYTES = CHUNK_BYTES - 1024;
/** Frames without effect, or that only ask for an answer: no client has a reason to send many. */
const IDLE_FRAMES_MAX = 10_000;
const IDLE_FRAMES_PER_SECOND = 1_000;
/**
 * Window updates that a client may send for the data it gets: one of the stream and one of the connection. Smaller data
 * earns them only if a window did not cut it.
 */
const UPDATES_FOR_DATA = 2;
const DATA_BYTES_THAT_PAY = 1024;
const PAID_UPDATES_MAX = 10_000;
const fields = new RequestFields();
const trailers = new TrailerFields();
const STREAM_MAX = 2 ** 31 - 1;
const NO_TRAILERS: readonly string[] = [];

/** The server's side of an HTTP/2 connection (RFC 9113), without its socket: bytes go in, and `output` has the answer. */
export class Session implements FrameSink, StreamSession {
  readonly output = new FrameWriter();
  readonly encoder = new HpackEncoder();
  readonly streams = new Map<number, ServerStream>();
  readonly limits: SessionLimits;
  /** The budget for windows that grow. */
  readonly windows: WindowShare;
  /** Further requests are refused. */
  isClosing = false;
  /** The session reads no further bytes. */
  isOver = false;
  private isAcknowledged = false;
  private readonly owner: SessionOwner;
  private readonly reader: FrameReader;
  private readonly decoder = new HpackDecoder();
  private readonly closed = new ClosedStreams();
  private readonly resets: TokenBucket;
  private readonly idleFrames: TokenBucket;
  private readonly peer = peerSettings();
  /** Streams with waiting data, in the order of their turns. */
  private readonly waiting = new Set<ServerStream>();
  private sendWindow = WINDOW_BYTES_DEFAULT;
  /** Window updates that the client has earned with the data it got. */
  private paidUpdates = 0;
  private receiveWindow = CONNECTION_WINDOW_BYTES;
  private lastStream = 0;
  /** The stream of the data frame being read; null if the data is dropped. */
  private dataStream: ServerStream | null = null;
  private dataLength = 0;
  private hasContent = false;
  /** Bytes that a client who keeps to its windows can have sent before it heard of our resets. */
  private lateBytes = 0;

  constructor(owner: SessionOwner, limits: SessionLimits, windows: WindowShare) {
    this.owner = owner;
    this.limits = limits;
    this.windows = windows;
    this.reader = new FrameReader(this, limits.headBytesMax);
    this.resets = new TokenBucket(limits.resetsMax, limits.resetsPerSecond, owner.nowMs);
    this.idleFrames = new TokenBucket(IDLE_FRAMES_MAX, IDLE_FRAMES_PER_SECOND, owner.nowMs);
    this.output.settings([
      [SETTING.maxConcurrentStreams, limits.streamsMax],
      [SETTING.initialWindowSize, limits.windowBytes],
      [SETTING.maxHeaderListSize, limits.headBytesMax],
      [SETTING.enableConnectProtocol, limits.allowsWebSockets ? 1 : 0],
      [SETTING.noRfc7540Priorities, 1],
    ]);
    this.output.windowUpdate(0, CONNECTION_WINDOW_BYTES - WINDOW_BYTES_DEFAULT);
  }

  /** Takes `buffer[0, length)`, which is valid only during the call. Returns how many bytes it has read: all, unless `hold` was called. */
  receive(buffer: Buffer, length: number): number {
    if (this.isOver) return length;
    try {
      const read = this.reader.feed(buffer, 0, length);
      return this.isOver ? length : read;
    } catch (error) {
      if (!(error instanceof ConnectionFault)) throw error;
      this.fail(error.code);
      return length;
    }
  }

  /** Ends the present `receive` after this frame. */
  hold(): void {
    this.reader.isHeld = true;
  }

  /** Asks the client for no further requests and still takes those on their way (RFC 9113 §6.8). */
  announceEnd(): void {
    if (this.isClosing) return;
    this.output.goaway(STREAM_MAX, ERROR.none);
    this.owner.onOutput();
  }

  /** Refuses further requests; those under way are answered. */
  drain(): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.output.goaway(this.lastStream, ERROR.none);
    this.owner.onDraining();
  }

  /** Ends the connection, and tells the client why. */
  fail(code: ErrorCode): void {
    if (this.isOver) return;
    this.stop();
    this.output.goaway(this.lastStream, code);
    this.owner.onFault();
  }

  /** Ends the connection without telling the client. */
  stop(): void {
    this.isOver = this.isClosing = this.reader.isStopped = true;
    this.waiting.clear();
    for (const stream of this.streams.values()) stream.close(false);
  }

  get nowMs(): number {
    return this.owner.nowMs;
  }

  /** The output has left, so waiting data follows. */
  pump(): void {
    let idleTurns = 0;
    while (idleTurns < this.waiting.size && this.dataRoom > 0) {
      const [stream] = this.waiting;
      if (stream === undefined) return;
      idleTurns = stream.sendPending() ? 0 : idleTurns + 1;
      this.waiting.delete(stream);
      if (stream.pendingBytes > 0) this.waiting.add(stream);
      else stream.drained();
    }
  }

  /** Bytes of data that may be written for now, on any stream. */
  get dataRoom(): number {
    return Math.min(this.sendWindow, DATA_QUEUE_BYTES - this.output.length);
  }

  /** `lastAt`: position of a frame of this stream that may still grow; negative for none. Returns the position of the frame. */
  sendData(stream: ServerStream, buffer: Buffer, start: number, end: number, lastAt: number): number {
    const length = end - start;
    stream.sendWindow -= length;
    this.sendWindow -= length;
    const isWhole = stream.sendWindow > 0 && this.sendWindow > 0;
    if (isWhole || length >= DATA_BYTES_THAT_PAY) this.paidUpdates = Math.min(this.paidUpdates + UPDATES_FOR_DATA, PAID_UPDATES_MAX);
    this.owner.onOutput();
    if (lastAt >= 0 && this.output.extend(lastAt, buffer, start, end)) return lastAt;
    return this.output.data(stream.id, buffer, start, end);
  }

  /** Sends the end of a stream whose data has left already. */
  sendEnd(stream: number): void {
    this.output.end(stream);
    this.owner.onOutput();
  }

  /** Sends the encoder's block. Returns the position of the frame, as `sendData` does. */
  sendBlock(stream: number, endsStream: boolean): number {
    const at = this.output.headers(stream, blockBytes(), this.encoder.length, endsStream);
    this.encoder.sent();
    this.owner.onOutput();
    return at;
  }

  sendReset(stream: number, code: ErrorCode): void {
    this.output.reset(stream, code);
    this.owner.onOutput();
  }

  sendWindowUpdate(stream: number, increment: number): void {
    this.output.windowUpdate(stream, increment);
    this.owner.onOutput();
  }

  /** Registers a stream with waiting data. */
  queue(stream: ServerStream): void {
    this.waiting.add(stream);
  }

  /** The response is complete. If the request is, too, the stream closes. */
  settle(stream: ServerStream): void {
    if (stream.isRemoteDone && stream.isLocalDone) stream.close(false);
  }

  forget(stream: ServerStream, wasReset: boolean): void {
    this.streams.delete(stream.id);
    this.waiting.delete(stream);
    if (this.dataStream === stream) this.dataStream = null;
    this.close(stream.id, wasReset, stream.receiveWindow);
  }

  private close(id: number, wasReset: boolean, window: number): void {
    this.closed.add(id, wasReset);
    if (wasReset) this.lateBytes += Math.max(window, WINDOW_BYTES_DEFAULT);
  }

  onDataFrame(id: number, length: number): void {
    this.dataLength = length;
    this.hasContent = false;
    this.takeConnectionWindow(length);
    const stream = this.streams.get(id) ?? null;
    this.dataStream = stream;
    if (stream === null) return this.onLateData(id, length);
    if (stream.isRemoteDone) return this.resetFor(stream, ERROR.streamClosed);
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) this.resetFor(stream, ERROR.flowControl);
  }

  onData(buffer: Buffer, start: number, end: number): void {
    const stream = this.dataStream;
    if (stream === null) return;
    this.hasContent = true;
    this.dataLength -= end - start;
    stream.handler?.onData(buffer, start, end);
    if (!stream.isClosed) stream.consumed(end - start);
  }

  onDataFrameEnd(endsStream: boolean): void {
    const stream = this.dataStream;
    if (stream === null) return;
    this.dataStream = null;
    // The rest of its length was padding.
    if (this.dataLength > 0) stream.consumed(this.dataLength);
    // Also one of padding alone (CVE-2019-9518).
    if (!this.hasContent && !endsStream) this.onIdleFrame();
    if (endsStream) this.endRequest(stream, NO_TRAILERS);
  }

  onHeaders(id: number, endsStream: boolean, buffer: Buffer, start: number, end: number): void {
    const stream = this.streams.get(id);
    if (stream !== undefined) return this.onTrailers(stream, endsStream, buffer, start, end);
    if (id <= this.lastStream) return this.onLateHeaders(id, buffer, start, end);
    if (id % 2 === 0) throw new ConnectionFault(ERROR.protocol, "a stream of ours");
    if (this.isClosing) return this.decodeUnwanted(buffer, start, end);
    this.lastStream = id;
    if (this.streams.size >= this.limits.streamsMax) {
      this.decodeUnwanted(buffer, start, end);
      this.close(id, true, this.limits.windowBytes);
      this.countReset();
      return this.sendReset(id, ERROR.refusedStream);
    }
    fields.begin(this.limits.headBytesMax, this.limits.fieldsMax);
    if (!this.decoder.decode(buffer, start, end, fields)) throw new ConnectionFault(ERROR.compression, "a malformed header block");
    fields.end();
    const created = new ServerStream(this, id, endsStream, this.peer.windowBytes);
    this.streams.set(id, created);
    if (fields.isMalformed) return this.resetFor(created, ERROR.protocol);
    this.owner.onRequest(created, fields);
  }

  /** Counts as a stream that was taken: clients would send one that was not taken on a new connection, again and again. */
  onLongHeaders(id: number): never {
    if (!this.isClosing && id % 2 === 1) this.lastStream = Math.max(this.lastStream, id);
    throw new ConnectionFault(ERROR.enhanceYourCalm, "a header block goes on and on");
  }

  onReset(id: number): void {
    const stream = this.streams.get(id);
    if (stream === undefined) {
      this.checkNotIdle(id);
      return this.takeIdleFrame();
    }
    this.countReset();
    stream.close(false);
  }

  onSettings(buffer: Buffer, start: number, end: number): void {
    this.takeIdleFrame();
    this.owner.onSettled();
    const { windowBytes, headerTableBytes } = this.peer;
    readSettings(buffer, start, end, this.peer);
    if (this.peer.headerTableBytesLeast !== headerTableBytes) this.encoder.limitTable(this.peer.headerTableBytesLeast);
    if (this.peer.headerTableBytes !== this.peer.headerTableBytesLeast) this.encoder.limitTable(this.peer.headerTableBytes);
    const more = this.peer.windowBytes - windowBytes;
    for (const stream of this.streams.values()) {
      stream.sendWindow += more;
      if (stream.sendWindow > WINDOW_BYTES_MAX) throw new ConnectionFault(ERROR.flowControl, "a window beyond its bound");
    }
    this.output.settingsAck();
    this.owner.onOutput();
    if (more > 0) this.pump();
  }

  onSettingsAck(): void {
    if (this.isAcknowledged) throw new ConnectionFault(ERROR.protocol, "an answer to no settings");
    this.isAcknowledged = true;
    this.owner.onAcknowledged();
  }

  onPing(buffer: Buffer, start: number): void {
    this.takeIdleFrame();
    this.output.pong(buffer, start);
    this.owner.onOutput();
  }

  /** The client opens no further streams; if it reports an error, it gets nothing more. */
  onGoaway(code: number): void {
    this.takeIdleFrame();
    if (code === ERROR.none) this.drain();
    else this.fail(ERROR.none);
  }

  onWindowUpdate(id: number, increment: number): void {
    // Small steps would make the server cut its data into as many frames.
    if (this.paidUpdates > 0) this.paidUpdates--;
    else this.takeIdleFrame();
    if (id === 0) {
      if (increment === 0) throw new ConnectionFault(ERROR.protocol, "a window that does not grow");
      this.sendWindow += increment;
      if (this.sendWindow > WINDOW_BYTES_MAX) throw new ConnectionFault(ERROR.flowControl, "a window beyond its bound");
      return this.pump();
    }
    const stream = this.streams.get(id);
    if (stream === undefined) return this.checkNotIdle(id);
    if (increment === 0) return this.resetFor(stream, ERROR.protocol);
    stream.sendWindow += increment;
    if (stream.sendWindow > WINDOW_BYTES_MAX) return this.resetFor(stream, ERROR.flowControl);
    if (stream.pendingBytes > 0) this.pump();
  }

  onIdleFrame(): void {
    this.takeIdleFrame();
  }

  private takeIdleFrame(): void {
    if (!this.idleFrames.take(this.owner.nowMs)) throw new ConnectionFault(ERROR.enhanceYourCalm, "too many frames without a purpose");
  }

  /** Ends the connection instead of throwing: the caller may be the service that had its stream reset. */
  private countReset(): void {
    if (!this.resets.take(this.owner.nowMs)) this.fail(ERROR.enhanceYourCalm);
  }

  /**
   * Resets a stream of which the client broke a rule (RFC 9113 §5.4.2). It counts like a reset by the client, which could
   * force ours instead (CVE-2025-8671).
   */
  resetFor(stream: ServerStream, code: ErrorCode): void {
    if (code === ERROR.protocol) stream.handler?.onMalformed();
    stream.reset(code);
    this.countReset();
  }

  /** Refills the connection's window without waiting until the streams' bytes are taken. */
  private takeConnectionWindow(length: number): void {
    this.receiveWindow -= length;
    if (this.receiveWindow < 0) throw new ConnectionFault(ERROR.flowControl, "more data than the connection has room for");
    if (this.receiveWindow > CONNECTION_WINDOW_BYTES / 2) return;
    this.sendWindowUpdate(0, CONNECTION_WINDOW_BYTES - this.receiveWindow);
    this.receiveWindow = CONNECTION_WINDOW_BYTES;
  }

  private checkNotIdle(id: number): void {
    // Even numbers would be ours, and we open no streams; after our GOAWAY the client may have opened streams that we
    // ignore.
    const isIdle = id % 2 === 0 || (id > this.lastStream && !this.isClosing);
    if (isIdle) throw new ConnectionFault(ERROR.protocol, "a frame of a stream that was not opened");
  }

  private onLateData(id: number, length: number): void {
    this.checkNotIdle(id);
    this.takeIdleFrame();
    if (this.isClosing) return;
    if (this.closed.hasReset(id)) {
      this.lateBytes -= length;
      if (this.lateBytes < 0) throw new ConnectionFault(ERROR.flowControl, "more data of reset streams than they had room for");
      return;
    }
    this.sendReset(id, ERROR.streamClosed);
    this.countReset();
  }

  /** Handles the head of a closed or skipped stream (RFC 9113 §5.1.1). */
  private onLateHeaders(id: number, buffer: Buffer, start: number, end: number): void {
    if (this.closed.hasReset(id)) return this.decodeUnwanted(buffer, start, end);
    const wasOpen = this.closed.has(id);
    throw new ConnectionFault(wasOpen ? ERROR.streamClosed : ERROR.protocol, "the head of a stream that is closed");
  }

  private decodeUnwanted(buffer: Buffer, start: number, end: number): void {
    this.takeIdleFrame();
    if (!this.decoder.decode(buffer, start, end, UNWANTED_FIELDS)) throw new ConnectionFault(ERROR.compression, "a malformed header block");
  }

  private onTrailers(stream: ServerStream, endsStream: boolean, buffer: Buffer, start: number, end: number): void {
    trailers.begin(this.limits.headBytesMax);
    if (!this.decoder.decode(buffer, start, end, trailers)) throw new ConnectionFault(ERROR.compression, "a malformed header block");
    if (stream.isRemoteDone) return this.resetFor(stream, ERROR.streamClosed);
    if (!endsStream || trailers.isMalformed) return this.resetFor(stream, ERROR.protocol);
    this.endRequest(stream, trailers.fields);
  }

  private endRequest(stream: ServerStream, trailing: readonly string[]): void {
    stream.isRemoteDone = true;
    stream.handler?.onEnd(trailing);
    if (!stream.isClosed) this.settle(stream);
  }
}
