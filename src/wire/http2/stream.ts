import type { Trailer } from "#wire/http/chunked.ts";
import { ERROR, type ErrorCode, FRAME_BYTES_MAX } from "./codes.ts";
import { PendingChunks } from "./pending-chunks.ts";
import type { FrameWriter } from "./frame-writer.ts";
import type { HpackEncoder } from "./hpack/encoder.ts";
import type { WindowShare } from "./window-budget.ts";

/** Who serves a stream's request. Bytes are good only during the call. */
export interface StreamHandler {
  onData(buffer: Buffer, start: number, end: number): void;
  /** The request is whole. `trailers`: names and values in turn. */
  onEnd(trailers: readonly string[]): void;
  /** What waited for the visitor has left; there is room again. */
  onDrain(): void;
  /** The request contradicts itself (RFC 9113 §8.1.1); the stream closes next. */
  onMalformed(): void;
  /** Nothing more comes or goes. */
  onClose(): void;
}

/** What a stream needs of its connection. */
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

/** A request's stream, as the server has it: from its head on. */
export class ServerStream {
  readonly id: number;
  handler: StreamHandler | null = null;
  /** The request is whole. */
  isRemoteDone: boolean;
  /** All of the response was written, or waits in `pending`. */
  isLocalEnded = false;
  /** All of the response was handed to the connection. */
  isLocalDone = false;
  isClosed = false;
  /** Bytes of the response's body that were handed to the connection. */
  sentBytes = 0;
  /** What the other side takes, and what it may send. */
  sendWindow: number;
  receiveWindow: number;
  private readonly session: StreamSession;
  /** What the other side has no room for yet. */
  private readonly pending = new PendingChunks();
  private trailers: readonly Trailer[] = [];
  /** Was told that there is no room. */
  private isAwaited = false;
  private isPaused = false;
  /** What the stream is reset with once nothing waits. */
  private lastCode: ErrorCode | null = null;
  /** Bytes that were taken and may be sent anew. */
  private credit = 0;
  /** What the other side may send ahead by now, what of that is of the connection's share, and since when it has had it. */
  private windowBytes: number;
  private grownBytes = 0;
  private grantedMs: number;
  /** What was taken since then had to wait for somebody. */
  private hasLagged = false;
  /** The last frame of data: where it stands, while it can still be changed. */
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

  /** Sends the block that the connection's encoder has just written: a head, be it the final one or one before it. */
  sendHead(): void {
    if (this.isClosed || this.isLocalEnded) return;
    const { session } = this;
    this.lastAt = session.sendBlock(this.id, false);
    // The first of several frames may stand in a chunk before this one.
    this.lastSerial = session.encoder.length <= FRAME_BYTES_MAX ? session.output.serial : -1;
  }

  /** Takes bytes of the response; those for which there is no room are kept. */
  send(buffer: Buffer, start: number, end: number): void {
    if (this.isClosed || this.isLocalEnded) return;
    const sent = this.pendingBytes === 0 ? this.sendNow(buffer, start, end) : 0;
    if (start + sent === end) return;
    this.pending.append(buffer, start + sent, end);
    this.session.queue(this);
  }

  /** The response is whole. */
  end(trailers: readonly Trailer[]): void {
    if (this.isClosed || this.isLocalEnded) return;
    this.isLocalEnded = true;
    this.trailers = trailers;
    if (this.pendingBytes === 0) this.finish();
  }

  /** False where the visitor is behind: `onDrain` tells when it no longer is. */
  hasRoom(): boolean {
    if (this.pendingBytes === 0) return true;
    this.isAwaited = true;
    return false;
  }

  /** Bytes of the response that the other side has no room for yet. */
  get pendingBytes(): number {
    return this.pending.length;
  }

  /** Takes no more of the request than the other side may send by now. */
  pause(): void {
    this.isPaused = true;
  }

  /** The same, since what was taken waits for somebody: a larger window would only have more of it wait. */
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

  /** Ends the stream, both ways, once what was sent has left. */
  resetWhenSent(code: ErrorCode): void {
    if (this.pendingBytes === 0) this.reset(code);
    else this.lastCode = code;
  }

  /** Ends the stream at once, both ways. */
  reset(code: ErrorCode): void {
    if (this.isClosed) return;
    this.session.sendReset(this.id, code);
    this.close(true);
  }

  /** So many bytes of the request were taken. */
  consumed(bytes: number): void {
    this.credit += bytes;
    if (!this.isPaused) this.grant();
  }

  /** Sends what there is room for, up to one frame of it. False where there is none. */
  sendPending(): boolean {
    const { pending } = this;
    const sent = this.sendNow(pending.buffer, pending.start, Math.min(pending.end, pending.start + FRAME_BYTES_MAX));
    pending.drop(sent);
    return sent > 0;
  }

  /** Nothing of it waits any more. */
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
      // Small pieces go into one frame for as long as nothing stands between them.
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

  /** Lets the other side send what was taken, in steps of half a window: each step is a frame. */
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
   * By how much the window grows. It doubles while half of it comes and is taken within half a second, so that it holds what
   * the client sends in a second, which is more than what is on its way (RFC 9113 §5.2.2): slow uploads keep the first one.
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
