import { atTickEnd, type TickTask } from "#kernel/process/tick-queue.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { ERROR } from "#wire/http2/codes.ts";
import type { Chunk } from "#wire/http2/frame-writer.ts";
import type { RequestFields } from "#wire/http2/request-fields.ts";
import { Session, type SessionLimits, type SessionOwner } from "#wire/http2/session.ts";
import type { ServerStream } from "#wire/http2/stream.ts";
import type { WindowShare } from "#wire/http2/window-budget.ts";
import { ClientDeadlines } from "./client-deadlines.ts";
import type { ClientOwner, OpenConnection } from "./client-owner.ts";
import { Http2Request, type RequestConnection } from "./http2-request.ts";
import {
  ACKNOWLEDGED,
  CLOSED,
  DRAINING,
  ENDED,
  ENDING,
  GONE,
  LAST,
  nextHttp2State,
  OPENING,
  SETTINGS,
  http2TimerOf,
} from "./http2-states.ts";
import type { RequestService } from "./request-service.ts";

export interface Http2Owner extends ClientOwner {
  readonly http2: SessionLimits;
}

export interface Http2Options {
  /** The share of the client's network in the growth of windows. */
  readonly windows: WindowShare;
  /** The scheme that requests must name; null for any. */
  readonly scheme: string | null;
  /** Serves one request. */
  createService(request: Http2Request): RequestService;
}

/**
 * While so much waits for a client that takes nothing, nothing more is read from it: each response that it asks for would
 * wait as well. Bytes.
 */
const OUTPUT_BYTES_MAX = 262_144;

/** A client's HTTP/2 connection, which carries many requests at once. Each has a service of the plane. */
export class Http2Connection implements OpenConnection, SessionOwner, RequestConnection, TransportHandler, TickTask {
  private readonly owner: Http2Owner;
  private readonly options: Http2Options;
  private readonly transport: Transport;
  private readonly session: Session;
  private readonly requests = new Set<Http2Request>();
  /** Requests whose body bytes were handed on in this read, to be sent after it. */
  private unsent: Http2Request[] = [];
  private readonly deadlines: ClientDeadlines;
  /** A number of `http2-states.ts`. */
  private state: number = OPENING;
  /** The bytes of a read are being handled. */
  private isReading = false;
  private isPaused = false;
  /** Requests of the present read. */
  private begun = 0;
  /** The rest of a read, while it waits for a later tick. */
  private rest: Buffer | null = null;
  /** Output waits for the end of the tick. */
  private isDue = false;
  /** On its way; the next chunk waits until the kernel has taken it. */
  private writing: Chunk | null = null;
  private sinceMs: number;

  constructor(owner: Http2Owner, transport: Transport, options: Http2Options) {
    this.owner = owner;
    this.options = options;
    this.transport = transport;
    this.sinceMs = owner.timers.nowMs;
    this.deadlines = new ClientDeadlines(owner.deadlines, owner.timers);
    this.session = new Session(this, owner.http2, options.windows);
    transport.attach(this);
    owner.timers.add(this);
    owner.connections.add(this);
    this.onOutput();
  }

  get nowMs(): number {
    return this.owner.timers.nowMs;
  }

  get idleSinceMs(): number | null {
    return this.requests.size === 0 && this.state < DRAINING ? this.sinceMs : null;
  }

  announceEnd(): void {
    this.session.announceEnd();
  }

  drain(): void {
    if (this.session.isClosing) return;
    this.sinceMs = this.nowMs;
    this.session.drain();
  }

  destroy(): void {
    this.transport.destroy();
  }

  check(nowMs: number): void {
    for (const request of this.requests) request.check(nowMs);
    // A client that takes none of the bytes that wait for it loses all its streams.
    const bytesTaken = this.writing === null ? null : this.transport.bytesTaken;
    if (this.deadlines.exchanging(nowMs, bytesTaken, null) !== "fine") return this.destroy();
    if (this.requests.size === 0) this.checkQuiet(nowMs - this.sinceMs);
  }

  /** Ends a connection without requests that has waited for too long in its state. */
  private checkQuiet(waitedMs: number): void {
    const { headTimeoutMs, idleTimeoutMs, lingerMs } = this.owner.deadlines;
    const timer = http2TimerOf(this.state);
    if (timer === "linger" || timer === "settings") {
      if (waitedMs > (timer === "linger" ? lingerMs : headTimeoutMs)) this.destroy();
    } else if (timer === "acknowledgement" && waitedMs > headTimeoutMs) this.session.fail(ERROR.settingsTimeout);
    else if (waitedMs > idleTimeoutMs) this.drain();
  }

  onRequest(stream: ServerStream, fields: RequestFields): void {
    const request = new Http2Request(this.owner, this, stream);
    stream.handler = request;
    this.requests.add(request);
    request.serve(this.options.createService(request), fields, this.options.scheme);
    // One read can hold thousands of requests, if each has its response at once.
    if (++this.begun > this.owner.http2.streamsMax && !this.owner.turns.take()) this.session.hold();
  }

  /** Forgets a request whose stream has closed. */
  forget(request: Http2Request): void {
    this.requests.delete(request);
    this.sinceMs = this.nowMs;
    // The last work waits until everything that came with the read was handled.
    if (this.requests.size === 0) this.onOutput();
  }

  /** Sends body bytes that were handed on after the whole read was handled. */
  flushLater(request: Http2Request): void {
    if (this.isReading) this.unsent.push(request);
    else request.flush();
  }

  get encoder(): Session["encoder"] {
    return this.session.encoder;
  }

  get allowsWebSockets(): boolean {
    return this.owner.http2.allowsWebSockets;
  }

  onOutput(): void {
    if (this.isDue) return;
    this.isDue = true;
    atTickEnd(this);
  }

  onSettled(): void {
    this.go(SETTINGS);
  }

  onAcknowledged(): void {
    this.go(ACKNOWLEDGED);
  }

  onDraining(): void {
    this.go(LAST);
    this.onOutput();
  }

  onFault(): void {
    this.sinceMs = this.nowMs;
    this.go(LAST);
    this.onOutput();
  }

  onTickEnd(): void {
    this.isDue = false;
    this.guard(() => this.send());
  }

  /** `try` rather than `guard` saves a closure per read. `buffer[0, length)` is valid only during the call. */
  onBytes(buffer: Buffer, length: number): void {
    if (this.rest !== null) {
      // few: a connection that is paused delivers one read more at most
      this.rest = Buffer.concat([this.rest, buffer.subarray(0, length)]);
      return;
    }
    this.begun = 0;
    this.read(buffer, length, false);
  }

  /** `isOurs`: the buffer stays valid, so what waits for a turn is not copied for each of them. */
  private read(buffer: Buffer, length: number, isOurs: boolean): void {
    this.isReading = true;
    try {
      const taken = this.session.receive(buffer, length);
      const rest = buffer.subarray(taken, length);
      if (rest.length > 0) this.waitForTurn(isOurs ? rest : Buffer.from(rest));
    } catch (error) {
      this.broken(error);
    }
    this.isReading = false;
    if (this.unsent.length > 0) this.flushUnsent();
    if (this.rest !== null || this.session.output.length > OUTPUT_BYTES_MAX) this.pause();
  }

  private waitForTurn(rest: Buffer): void {
    this.rest = rest;
    this.owner.turns.wait(() => {
      const bytes = this.rest;
      this.rest = null;
      if (bytes === null || this.state === CLOSED) return;
      this.read(bytes, bytes.length, true);
      if (this.rest === null && this.session.output.length <= OUTPUT_BYTES_MAX) this.resume();
    });
  }

  onDrain(): void {}

  /** Nothing is sent to a client that has closed its side. */
  onEnd(): void {
    this.destroy();
  }

  onClosed(): void {
    this.guard(() => this.closed());
  }

  private flushUnsent(): void {
    const { unsent } = this;
    this.unsent = [];
    for (const request of unsent) request.flush();
  }

  private send(): void {
    const { session, transport } = this;
    while (this.writing === null && this.state < ENDING) {
      const chunk = session.output.take();
      if (chunk === null) {
        if (this.state === DRAINING && this.requests.size === 0) this.end();
        return;
      }
      transport.sendKept("", chunk.buffer, 0, chunk.length);
      if (transport.queuedBytes > 0) {
        this.writing = chunk;
        transport.whenSent(() => this.guard(() => this.sentLater(chunk)));
      } else this.sent(chunk);
    }
  }

  private sentLater(chunk: Chunk): void {
    this.writing = null;
    this.sent(chunk);
    this.send();
  }

  /** The kernel has taken the chunk, or never will. */
  private sent(chunk: Chunk): void {
    const { session } = this;
    session.output.release(chunk);
    if (this.state === CLOSED) return;
    session.pump();
    if (this.isPaused && this.rest === null && session.output.length <= OUTPUT_BYTES_MAX) this.resume();
  }

  /** Ends our side and reads on for a moment: closing over unread bytes would reset what we have just sent. */
  private end(): void {
    this.go(ENDED);
    this.sinceMs = this.nowMs;
    this.session.stop();
    this.transport.end();
    this.resume();
  }

  private closed(): void {
    this.go(GONE);
    this.owner.timers.remove(this);
    this.owner.connections.delete(this);
    this.session.stop();
    this.session.output.clear();
  }

  /** Throws for an event that is impossible in this state; each caller is guarded. */
  private go(event: number): void {
    this.state = nextHttp2State(this.state, event);
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.transport.pause();
  }

  private resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.transport.resume();
  }

  /** An exception costs this connection, not the worker. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
  }

  private broken(error: unknown): void {
    this.owner.report(error);
    this.destroy();
  }
}
