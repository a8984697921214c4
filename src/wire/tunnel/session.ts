import type { Checked } from "#kernel/timers.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { CONTROL_BYTES_MAX, FRAME, frameHead, type FrameHandler, TunnelFrameReader, STREAMS_MAX, TunnelFault } from "./frames.ts";
import type { StreamCarrier } from "./carrier.ts";
import { GatheringWriter } from "./gathering-writer.ts";
import { TunnelStream } from "./stream.ts";

/** The owner of a connection: the edge, or the connector. */
export interface TunnelSessionOwner {
  /** Another stream of the edge. Absent at the edge, where no stream may begin. */
  onStream?(stream: TunnelStream): void;
  onFrame(kind: number, payload: Buffer): void;
  /** The other side takes no further streams, or a stream has ended. */
  onChanged(): void;
  /** The connection is over; the last call. `code`: of the system, of TLS, or the reason of `destroy`. */
  onClosed(code: string): void;
}

/** Without a byte for so long, the other side is asked for one, and given up later. */
const PING_AFTER_MS = 15_000;
const DEAD_AFTER_MS = 45_000;
/** Time to take the last bytes of a connection that ends. */
const ENDS_WITHIN_MS = 5_000;

/**
 * Shorter parts are handed on at the end of the read, with others of their stream: a side that sends bytes singly would cause as many
 * writes. The last part of a read has nothing to wait for.
 */
const GATHERED_BYTES_MAX = 1_024;

/** A connection with any number of streams, each with its own flow control. Both sides use it; only the edge opens streams. */
export class TunnelSession implements TransportHandler, FrameHandler, StreamCarrier, Checked {
  readonly transport: Transport;
  readonly writer: GatheringWriter;
  readonly streams = new Map<number, TunnelStream>();
  /** The other side takes no further streams. */
  isDraining = false;
  isOver = false;
  /** Streams whose writer waits for room. */
  readonly blocked = new Set<TunnelStream>();
  private readonly owner: TunnelSessionOwner;
  private readonly reader = new TunnelFrameReader(this);
  private lastStream = 0;
  /** Bytes of the present read. */
  private readBytes = 0;
  /** Streams with short parts of the present read. */
  private readonly gathering = new Set<TunnelStream>();
  private code = "";
  private hasHeard = true;
  private heardMs = 0;
  private hasPinged = false;
  private owesPong = false;
  /** It closes once everything is sent, and what comes until then does not count. */
  private isEnding = false;

  constructor(transport: Transport, owner: TunnelSessionOwner) {
    this.transport = transport;
    this.writer = new GatheringWriter(transport);
    this.owner = owner;
  }

  /** Starts to read. */
  start(): void {
    this.transport.attach(this);
  }

  /** The other side has shown who it is. */
  trust(): void {
    this.reader.controlBytesMax = CONTROL_BYTES_MAX;
  }

  get takesStreams(): boolean {
    return !this.isOver && !this.isEnding && !this.isDraining;
  }

  /** Null if the connection has no room for another stream. */
  open(): TunnelStream | null {
    if (!this.takesStreams || this.streams.size >= STREAMS_MAX) return null;
    const stream = new TunnelStream(this, ++this.lastStream, false);
    this.streams.set(stream.id, stream);
    this.send(FRAME.open, stream.id);
    return stream;
  }

  /** A frame without data. */
  send(kind: number, stream: number, payload = ""): void {
    if (this.isOver) return;
    const text = Buffer.from(payload).toString("latin1");
    this.writer.string(frameHead(kind, stream, text.length) + text);
  }

  forget(stream: TunnelStream): void {
    this.blocked.delete(stream);
    if (this.streams.delete(stream.id) && !this.isOver) this.owner.onChanged();
  }

  /** Ends the connection and its streams. */
  destroy(code: string): void {
    this.code ||= code;
    this.writer.flush();
    this.transport.destroy();
    this.over();
  }

  /** The same once everything is sent, or the other side has not taken it in time. */
  destroySoon(): void {
    this.isEnding = true;
    this.writer.flush();
    this.transport.destroySoon();
  }

  check(nowMs: number): void {
    if (this.hasHeard) {
      this.heardMs = nowMs;
      this.hasHeard = this.hasPinged = false;
    }
    const silentMs = nowMs - this.heardMs;
    if (silentMs > (this.isEnding ? ENDS_WITHIN_MS : DEAD_AFTER_MS)) this.destroy("ETIMEDOUT");
    else if (silentMs > PING_AFTER_MS && !this.hasPinged) {
      this.hasPinged = true;
      this.send(FRAME.ping, 0);
    }
  }

  onBytes(buffer: Buffer, length: number): void {
    if (this.isOver || this.isEnding) return;
    this.hasHeard = true;
    this.readBytes = length;
    try {
      this.reader.feed(buffer, length);
      if (this.gathering.size > 0) this.handGathered();
    } catch (error) {
      this.destroy(error instanceof TunnelFault ? "EPROTO" : String(error));
    }
  }

  onDrain(): void {
    if (this.owesPong) this.pong();
    for (const stream of [...this.blocked]) stream.roomAgain();
  }

  onEnd(): void {
    this.destroy("");
  }

  onClosed(code: string): void {
    this.code ||= code;
    this.over();
    this.owner.onClosed(this.code);
  }

  onData(id: number, buffer: Buffer, start: number, end: number): void {
    // One that we have given up may still have bytes on the way.
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    const waits = end < this.readBytes && end - start < GATHERED_BYTES_MAX;
    if (waits) this.gathering.add(stream);
    stream.receive(buffer, start, end, waits);
  }

  onFrame(kind: number, id: number, payload: Buffer): void {
    if (id === 0) return this.onOwnFrame(kind, payload);
    if (kind === FRAME.open) return this.accept(id);
    const stream = this.streams.get(id);
    if (stream === undefined) return;
    if (kind === FRAME.accept) stream.accepted();
    else if (kind === FRAME.end) stream.ended();
    else if (kind === FRAME.reset) stream.wasReset();
    else if (kind === FRAME.window && payload.length === 4) stream.mayAlsoSend(payload.readUInt32BE(0));
    else throw new TunnelFault("a frame of an unknown kind");
  }

  private handGathered(): void {
    for (const stream of this.gathering) stream.deliver();
    this.gathering.clear();
  }

  private onOwnFrame(kind: number, payload: Buffer): void {
    if (kind === FRAME.ping) this.pong();
    else if (kind === FRAME.drain) {
      this.isDraining = true;
      this.owner.onChanged();
    } else if (kind !== FRAME.pong) this.owner.onFrame(kind, payload);
  }

  /** One for all pings that came while nothing could leave: a side that does not read its answers must not fill the memory. */
  private pong(): void {
    this.owesPong = this.transport.needsDrain;
    if (!this.owesPong) this.send(FRAME.pong, 0);
  }

  private accept(id: number): void {
    const { owner } = this;
    if (owner.onStream === undefined || id <= this.lastStream) throw new TunnelFault("a stream that may not begin");
    this.lastStream = id;
    // Streams end here later than at the edge if their last bytes are still being read.
    if (this.streams.size >= STREAMS_MAX) return this.send(FRAME.reset, id);
    const stream = new TunnelStream(this, id, true);
    this.streams.set(id, stream);
    this.send(FRAME.accept, id);
    owner.onStream(stream);
  }

  private over(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const stream of [...this.streams.values()]) stream.lost();
    this.streams.clear();
  }
}
