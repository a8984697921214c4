import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { End, Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { NOWHERE, type StreamCarrier } from "./carrier.ts";
import { DATA_BYTES_MAX, FRAME, frameHead, STREAM_WINDOW_BYTES, TunnelFault, WINDOW_STEP_BYTES, windowFrame } from "./frames.ts";

/** One stream of a tunnel's connection: to those who use it, a connection like any other. */
export class TunnelStream implements Transport {
  readonly id: number;
  readonly peer = NOWHERE;
  readonly tls = null;
  readonly sendsReads = false;
  readonly localEnd = (): End => NOWHERE;
  readonly whenClosed = (callback: () => void): void => void this.afterClose.push(callback);
  readonly pause = (): void => void (this.isPaused = true);
  readonly rest = (): void => this.pause();
  readonly reset = (): void => this.destroy();
  /** The connection is over. */
  readonly lost = (): void => this.close("ECONNRESET");
  bytesRead = 0;
  bytesTaken = 0;
  queuedBytes = 0;
  private readonly session: StreamCarrier;
  private handler: TransportHandler | null = null;
  private window = STREAM_WINDOW_BYTES;
  private readonly queue: Buffer[] = [];
  /** Bytes that the other side may still send, and bytes that were read but not yet granted again. */
  private room = STREAM_WINDOW_BYTES;
  private unreported = 0;
  private readonly held = new GatheredBytes();
  private isPaused = true;
  private hasEnded = false;
  private hasSentEnd = false;
  private closesOnceSent = false;
  private otherHasEnded = false;
  private tellsEnd = false;
  private isClosed = false;
  private wasAccepted: boolean;
  private readonly afterSending: (() => void)[] = [];
  private readonly afterClose: (() => void)[] = [];

  constructor(session: StreamCarrier, id: number, wasAccepted: boolean) {
    this.session = session;
    this.id = id;
    this.wasAccepted = wasAccepted;
  }

  /** After an answer of true, `onDrain` follows, even if others filled the connection. */
  get needsDrain(): boolean {
    const needsDrain = this.queuedBytes > 0 || this.session.transport.needsDrain;
    if (needsDrain && !this.isClosed) this.session.blocked.add(this);
    return needsDrain;
  }

  attach(handler: TransportHandler): void {
    this.handler = handler;
    this.resume();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    // Nothing here may call the handler at once.
    if (this.held.length > 0 || this.tellsEnd) queueMicrotask(() => this.deliver());
  }

  sendText(text: string): void {
    if (this.mustQueue(text.length)) this.enqueue(Buffer.from(text, "latin1"));
    else if (text !== "") {
      this.session.writer.string(frameHead(FRAME.data, this.id, text.length) + text);
      this.taken(text.length);
    }
  }

  sendShared(text: string, buffer: Buffer, start: number, end: number): void {
    const length = text.length + end - start;
    if (this.mustQueue(length)) return this.enqueue(Buffer.concat([Buffer.from(text, "latin1"), buffer.subarray(start, end)]));
    this.session.writer.shared(frameHead(FRAME.data, this.id, length) + text, buffer, start, end);
    this.taken(length);
  }

  sendKept(text: string, buffer: Buffer, start: number, end: number, tail = ""): void {
    const length = text.length + end - start + tail.length;
    if (this.mustQueue(length)) {
      if (text !== "") this.enqueue(Buffer.from(text, "latin1"));
      this.enqueue(buffer.subarray(start, end));
      if (tail !== "") this.enqueue(Buffer.from(tail, "latin1"));
      return;
    }
    this.session.writer.kept(frameHead(FRAME.data, this.id, length) + text, buffer, start, end, tail);
    this.taken(length);
  }

  whenSent(callback: () => void): void {
    if (this.queuedBytes === 0 || this.isClosed) queueMicrotask(callback);
    else this.afterSending.push(callback);
  }

  end(): void {
    if (this.hasEnded || this.isClosed) return;
    this.hasEnded = true;
    if (this.queuedBytes === 0) this.sendEnd();
  }

  destroySoon(): void {
    if (this.isClosed) return;
    this.closesOnceSent = true;
    if (!this.hasEnded) this.end();
    else if (this.queuedBytes === 0) this.destroy();
  }

  destroy(): void {
    if (this.isClosed) return;
    this.session.send(FRAME.reset, this.id);
    this.close("");
  }

  unread(bytes: Buffer): void {
    this.handler = null;
    this.isPaused = true;
    for (const piece of [Buffer.from(bytes), ...this.held.takeList()]) this.held.push(piece);
  }

  intoSocket(): never {
    throw new Error("a stream of a tunnel is no socket");
  }

  /** The connector serves the stream. */
  accepted(): void {
    if (this.wasAccepted) throw new TunnelFault("a stream is accepted twice");
    this.wasAccepted = true;
    this.handler?.onConnected?.();
  }

  /** `waits`: until `deliver`, with others of the same read. */
  receive(buffer: Buffer, start: number, end: number, waits: boolean): void {
    this.room -= end - start;
    if (this.room < 0 || this.otherHasEnded || !this.wasAccepted) throw new TunnelFault("bytes that may not come");
    if (!waits && this.held.length > 0) this.deliver();
    if (!waits && !this.isPaused && this.held.length === 0) this.hand(buffer, start, end);
    else if (!this.isClosed) this.held.push(Buffer.from(buffer.subarray(start, end)));
  }

  ended(): void {
    if (this.otherHasEnded || !this.wasAccepted) throw new TunnelFault("a stream ends that cannot end");
    this.otherHasEnded = this.tellsEnd = true;
    this.deliver();
  }

  /** Bytes that were received before still count. */
  wasReset(): void {
    this.deliver();
    if (this.otherHasEnded && (this.held.length > 0 || this.tellsEnd)) {
      this.hasEnded = true;
      this.dropQueue();
    } else this.close(this.otherHasEnded ? "" : "ECONNRESET");
  }

  mayAlsoSend(bytes: number): void {
    this.window += bytes;
    if (this.window > 2 ** 31) throw new TunnelFault("a window is too large");
    this.flush();
    if (this.queuedBytes === 0) this.roomAgain();
  }

  roomAgain(): void {
    if (this.queuedBytes === 0 && this.session.blocked.delete(this)) this.handler?.onDrain();
  }

  private mustQueue(length: number): boolean {
    return this.queuedBytes > 0 || length > this.window || length > DATA_BYTES_MAX || this.isClosed || this.hasEnded;
  }

  private enqueue(bytes: Buffer): void {
    if (this.isClosed || this.hasEnded || bytes.length === 0) return;
    this.queue.push(bytes);
    this.queuedBytes += bytes.length;
    this.session.blocked.add(this);
    this.flush();
  }

  private flush(): void {
    const { queue, session } = this;
    while (queue.length > 0 && this.window > 0) {
      const first = queue[0]!;
      const length = Math.min(first.length, this.window, DATA_BYTES_MAX);
      session.writer.kept(frameHead(FRAME.data, this.id, length), first, 0, length);
      if (length === first.length) queue.shift();
      else queue[0] = first.subarray(length);
      this.queuedBytes -= length;
      this.taken(length);
    }
    if (this.queuedBytes > 0) return;
    for (const callback of this.afterSending.splice(0)) callback();
    if (this.hasEnded && !this.hasSentEnd) this.sendEnd();
  }

  private taken(length: number): void {
    this.window -= length;
    this.bytesTaken += length;
    if (this.session.transport.needsDrain) this.session.blocked.add(this);
  }

  private sendEnd(): void {
    this.hasSentEnd = true;
    this.session.send(FRAME.end, this.id);
    if (this.closesOnceSent) queueMicrotask(() => this.destroy());
    else if (this.otherHasEnded && !this.tellsEnd) queueMicrotask(() => this.close(""));
  }

  private dropQueue(): void {
    this.queue.length = this.queuedBytes = 0;
    for (const callback of this.afterSending.splice(0)) callback();
  }

  /** Hands on what waits, as far as somebody reads it. */
  deliver(): void {
    if (this.isPaused || this.isClosed) return;
    for (const bytes of this.held.takeList())
      if (this.isPaused || this.isClosed) this.held.push(bytes);
      else this.hand(bytes, 0, bytes.length);
    if (this.isPaused || this.isClosed || this.held.length > 0 || !this.tellsEnd) return;
    this.tellsEnd = false;
    this.handler?.onEnd();
    if (this.hasEnded && this.queuedBytes === 0) this.close("");
  }

  private hand(buffer: Buffer, start: number, end: number): void {
    const length = end - start;
    this.bytesRead += length;
    this.unreported += length;
    if (this.handler?.onPart !== undefined) this.handler.onPart(buffer, start, end);
    else this.handler?.onBytes(buffer.subarray(start, end), length);
    if (this.isClosed || this.unreported < WINDOW_STEP_BYTES || this.otherHasEnded) return;
    this.room += this.unreported;
    this.session.writer.string(windowFrame(this.id, this.unreported));
    this.unreported = 0;
  }

  private close(code: string): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.held.clear();
    this.dropQueue();
    this.session.forget(this);
    queueMicrotask(() => {
      this.handler?.onClosed(code);
      for (const callback of this.afterClose) callback();
    });
  }
}
