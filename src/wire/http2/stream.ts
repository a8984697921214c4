import type { Trailer } from "#wire/http/chunked.ts";
import { ERROR, type ErrorCode, FRAME_BYTES_MAX } from "./codes.ts";
import { PendingChunks } from "./pending-chunks.ts";
import type { FrameWriter } from "./frame-writer.ts";
import type { HpackEncoder } from "./hpack/encoder.ts";
import type { WindowShare } from "./window-budget.ts";

/** Serves a stream's request. Bytes are valid only during the call. */
export interface StreamHandler {
  onData(buffer: Buffer, start: number, end: number): void;
  /** The request is complete. `trailers`: names and values alternate. */
  onEnd(trailers: readonly string[]): void;
  /** The waiting bytes have left, so there is room again. */
  onDrain(): void;
  /** The request contradicts itself (RFC 9113 §8.1.1); the stream closes next. */
  onMalformed(): void;
  /** The stream is closed, both ways. */
  onClose(): void;
}

/** The connection of a stream, as the stream sees it. */
export interface StreamSession {
  readonly limits: { readonly windowBytes: number; readonly windowBytesMax: number };
  readonly windows: WindowShare;
  readonly nowMs: number;
  readonly encoder: HpackEncoder;
  readonly output: FrameWriter;
  readonly dataRoom: number;
  sendData(stream: ServerStream, buffer: Buffer, start: number, end: number, lastAt: number): number;
  sendBlock(stream: number, endsStream: boolean): number;
  sendEnd(stream: number): void;
  sendReset(stream: number, code: ErrorCode): void;
  sendWindowUpdate(stream: number, increment: number): void;
  queue(stream: ServerStream): void;
  settle(stream: ServerStream): void;
  forget(stream: ServerStream, wasReset: boolean): void;
  resetFor(stream: ServerStream, code: ErrorCode): void;
}

/** The server's side of a stream, from the head of its request on. */
export class ServerStream {
  readonly id: number;
  handler: StreamHandler | null = null;
  /** The request is complete. */
  isRemoteDone: boolean;
  /** All of the response was written, or waits in `pending`. */
  isLocalEnded = false;
  /** All of the response was handed to the connection. */
  isLocalDone = false;
  isClosed = false;
  /** Bytes of the response's body that were handed to the connection. */
  sentBytes = 0;
  /** Bytes that the other side takes, and bytes that it may send. */
  sendWindow: number;
  receiveWindow: number;
  private readonly session: StreamSession;
  /** Bytes that the other side has no room for yet. */
  private readonly pending = new PendingChunks();
  private trailers: readonly Trailer[] = [];
  /** The sender has been refused room, and waits for `onDrain`. */
  private isAwaited = false;
  private isPaused = false;
  /** The code to reset the stream with once nothing waits. */
  private lastCode: ErrorCode | null = null;
  /** Bytes that were taken and not yet granted again. */
  private credit = 0;
  /** Size of the window, the part of it that comes from the connection's share, and the time of the last grant. */
  private windowBytes: number;
  private grownBytes = 0;
  private grantedMs: number;
  /** Bytes since the last grant had to wait for somebody to take them. */
  private hasLagged = false;
  /** Position of the last DATA frame, while it can still be changed. */
  private lastSerial = -1;
  private lastAt = 0;

  constructor(session: StreamSession, id: number, isRemoteDone: boolean, sendWindow: number) {
    this.session = session;
    this.id = id;
    this.isRemoteDone = isRemoteDone;
    this.sendWindow = sendWindow;
    this.windowBytes = this.receiveWindow = session.limits.windowBytes;
    this.grantedMs = session.nowMs;
  }

  /** Sends the block that the connection's encoder has just written: an interim head or the final one. */
  sendHead(): void {
    if (this.isClosed || this.isLocalEnded) return;
    const { session } = this;
    this.lastAt = session.sendBlock(this.id, false);
    // A header block of several frames may begin in an earlier chunk.
    this.lastSerial = session.encoder.length <= FRAME_BYTES_MAX ? session.output.serial : -1;
  }

  /** Sends bytes of the response, and keeps those that find no room. */
  send(buffer: Buffer, start: number, end: number): void {
    if (this.isClosed || this.isLocalEnded) return;
    const sent = this.pendingBytes === 0 ? this.sendNow(buffer, start, end) : 0;
    if (start + sent === end) return;
    this.pending.append(buffer, start + sent, end);
    this.session.queue(this);
  }

  /** The response is complete. */
  end(trailers: readonly Trailer[]): void {
    if (this.isClosed || this.isLocalEnded) return;
    this.isLocalEnded = true;
    this.trailers = trailers;
    if (this.pendingBytes === 0) this.finish();
  }

  /** Returns false if the visitor is behind: `onDrain` is called when it has caught up. */
  hasRoom(): boolean {
    if (this.pendingBytes === 0) return true;
    this.isAwaited = true;
    return false;
  }

  /** Bytes of the response that the other side has no room for yet. */
  get pendingBytes(): number {
    return this.pending.length;
  }

  /** Stops granting window, so that the other side sends no more than it may by now. */
  pause(): void {
    this.isPaused = true;
  }

  /** Pauses because the bytes taken wait for somebody: a larger window would only let more of them wait. */
  lag(): void {
    this.isPaused = this.hasLagged = true;
  }

  resume(): void {
    this.isPaused = false;
    this.grant();
  }

  get isHeld(): boolean {
    return this.isPaused;
  }

  /** The request contradicts itself (RFC 9113 §8.1.1). */
  refuse(): void {
    if (!this.isClosed) this.session.resetFor(this, ERROR.protocol);
  }

  /** Resets the stream once the waiting bytes have left. */
  resetWhenSent(code: ErrorCode): void {
    if (this.pendingBytes === 0) this.reset(code);
    else this.lastCode = code;
  }

  /** Resets the stream at once. */
  reset(code: ErrorCode): void {
    if (this.isClosed) return;
    this.session.sendReset(this.id, code);
    this.close(true);
  }

  /** Counts bytes of the request as taken. */
  consumed(bytes: number): void {
    this.credit += bytes;
    if (!this.isPaused) this.grant();
  }

  /** Sends waiting bytes, at most one frame. Returns false without room. */
  sendPending(): boolean {
    const { pending } = this;
    const sent = this.sendNow(pending.buffer, pending.start, Math.min(pending.end, pending.start + FRAME_BYTES_MAX));
    pending.drop(sent);
    return sent > 0;
  }

  /** All bytes of the stream are sent. */
  drained(): void {
    if (this.isLocalEnded) this.finish();
    if (this.lastCode !== null) this.reset(this.lastCode);
    if (!this.isAwaited || this.isClosed) return;
    this.isAwaited = false;
    this.handler?.onDrain();
  }

  /** `wasReset`: by us. */
  close(wasReset: boolean): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.pending.clear();
    this.session.windows.give(this.grownBytes);
    this.session.forget(this, wasReset);
    this.handler?.onClose();
  }

  private sendNow(buffer: Buffer, start: number, end: number): number {
    const { session } = this;
    let at = start;
    while (at < end) {
      const length = Math.min(end - at, FRAME_BYTES_MAX, this.sendWindow, session.dataRoom);
      if (length <= 0) break;
      // Adjacent small chunks share one frame.
      const lastAt = this.lastSerial === session.output.serial ? this.lastAt : -1;
      this.lastAt = session.sendData(this, buffer, at, at + length, lastAt);
      this.lastSerial = session.output.serial;
      at += length;
    }
    this.sentBytes += at - start;
    return at - start;
  }

  private finish(): void {
    const { session, trailers } = this;
    this.isLocalDone = true;
    if (trailers.length > 0) {
      session.encoder.begin();
      for (const { name, value } of trailers) session.encoder.text(name, value);
      session.sendBlock(this.id, true);
    } else if (this.lastSerial === session.output.serial) session.output.endStreamAt(this.lastAt);
    else session.sendEnd(this.id);
    session.settle(this);
  }

  /** Grants the bytes taken to the other side, in steps of half a window, since each step is a frame. */
  private grant(): void {
    const { session } = this;
    if (this.isRemoteDone || this.isClosed || this.credit < this.windowBytes / 2) return;
    const increment = this.credit + this.growth();
    this.receiveWindow += increment;
    session.sendWindowUpdate(this.id, increment);
    this.credit = 0;
    this.grantedMs = session.nowMs;
    this.hasLagged = false;
  }

  /**
   * Bytes that the window grows by. It doubles while half of it is taken within half a second. So it holds about the
   * bytes of a second, which is more than is ever in flight (RFC 9113 §5.2.2), and slow uploads keep the first window.
   */
  private growth(): number {
    const { session, windowBytes } = this;
    if (this.hasLagged || session.nowMs - this.grantedMs > GROWTH_MS_MAX) return 0;
    const growth = Math.min(windowBytes, session.limits.windowBytesMax - windowBytes);
    if (growth <= 0 || !session.windows.take(growth)) return 0;
    this.windowBytes += growth;
    this.grownBytes += growth;
    return growth;
  }
}

const GROWTH_MS_MAX = 500;
