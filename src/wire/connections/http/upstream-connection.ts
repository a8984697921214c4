import type { TLSSocket } from "node:tls";
import type { BodySink, Trailer } from "#wire/http/chunked.ts";
import { BodyReader, type Framing, isPersistent, responseFraming, UNTIL_CLOSE } from "#wire/http/framing.ts";
import { findHeadEnd, isHopelessStart, isStatusLine, parseResponseHead } from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";
import { PendingBytes } from "#wire/http/pending-bytes.ts";
import { SocketWriter } from "#wire/connections/transport/socket-writer.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import type { Linked } from "#kernel/linked-list.ts";
import type { Checked, Timers } from "#kernel/timers.ts";

/** Reasons why a connection to an origin could not be made: nothing of the request was sent. */
export type ConnectFault =
  | "origin_refused"
  | "origin_connect_timeout"
  | "origin_unreachable"
  | "origin_handshake"
  | "origin_certificate"
  | "no_tunnel"
  | "no_sockets";

/** Reasons why a connection to an origin cannot serve the request, or cannot continue to. */
export type UpstreamFault =
  | ConnectFault
  | "origin_head_too_large"
  | "origin_fields_too_many"
  | "origin_closed"
  | "origin_malformed"
  | "origin_timeout"
  | "visitor_stalled";

/** The receiver of a response. Heads and bytes are valid only during the call. */
export interface UpstreamSink extends BodySink {
  /** The address of the visitor whose request it is. */
  readonly visitorAddress: string;
  onConnected(): void;
  /** The origin takes more of the request. */
  onDrain(): void;
  onInterim(buffer: Buffer, head: Head): void;
  /** 101: from now on both sides send bytes of another protocol. */
  onSwitch(buffer: Buffer, head: Head): void;
  onHead(buffer: Buffer, head: Head, framing: Framing): void;
  onEnd(trailers: readonly Trailer[]): void;
  /** The bytes of one read are all handed over. */
  onReadEnd(): void;
  onTunnelEnd(): void;
  onFault(fault: UpstreamFault): void;
}

export interface UpstreamLimits {
  readonly connectTimeoutMs: number;
  /** Between two requests. */
  readonly originIdleTimeoutMs: number;
  /** Timeout of the head of a response, and of each chunk after it, unless a request sets another one. */
  readonly responseTimeoutMs: number;
  /** Bounds of a response head: its bytes, and its fields, `FIELDS_MAX` at most. */
  readonly originHeadBytesMax: number;
  readonly originHeadFieldsMax: number;
}

/** The pool of a connection, as the connection sees it. */
export interface UpstreamOwner {
  readonly limits: UpstreamLimits;
  readonly timers: Timers;
  /** The origin is dialled over TLS, and the connection is usable only after the handshake. */
  readonly isSecure: boolean;
  /** After the handshake: whether the certificate is good for the origin. */
  isTrusted(socket: TLSSocket): boolean;
  dial(): Transport;
  connected(): void;
  notConnected(fault: ConnectFault): void;
  /** Reports an unexpected exception, which costs its request, not the worker. */
  report(error: unknown): void;
  released(connection: UpstreamConnection): void;
  /** The connection became a tunnel, and serves no other request until it is closed. */
  switched(connection: UpstreamConnection): void;
  closed(connection: UpstreamConnection): void;
}

/** The parser's status for too many fields. */
const TOO_MANY_FIELDS = 431;
const INTERIM_RESPONSES_MAX = 16;
const responseHead = new Head();

const IDLE = 0;
const HEAD = 1;
const BODY = 2;
const TUNNEL = 3;
const CLOSED = 4;

/** A connection to an origin. Sends one request at a time, and parses responses as strictly as requests are parsed. */
export class UpstreamConnection implements Checked, TransportHandler, Linked<UpstreamConnection> {
  readonly writer: SocketWriter;
  /** Requests may be sent. Over TLS, the certificate was accepted, if that is required. */
  isConnected = false;
  /** It served an earlier request. */
  isReused = false;
  /** Some bytes of the response arrived. */
  hasAnswered = false;
  /** Neighbours in the list of idle connections. */
  before: UpstreamConnection | null = null;
  after: UpstreamConnection | null = null;
  private readonly owner: UpstreamOwner;
  private readonly transport: Transport;
  private readonly body = new BodyReader();
  private readonly pending = new PendingBytes();
  /** Bytes of an unfinished head that were searched for its end already. */
  private scanned = 0;
  private sink: UpstreamSink | null = null;
  private isHandshaking = false;
  private state = IDLE;
  private method = "";
  private interimResponses = 0;
  private requestSent = false;
  private persistent = true;
  private paused = false;
  private touchedMs: number;
  private idleMs: number;
  private responseTimeoutMs = 0;

  constructor(owner: UpstreamOwner) {
    this.owner = owner;
    this.touchedMs = owner.timers.nowMs;
    this.idleMs = owner.limits.originIdleTimeoutMs;
    this.transport = owner.dial();
    this.writer = new SocketWriter(this.transport);
    this.transport.attach(this);
    owner.timers.add(this);
  }

  onConnected(): void {
    this.touch();
    if (this.owner.isSecure) this.isHandshaking = true;
    else this.guard(() => this.ready());
  }

  onSecured(): void {
    const { tls } = this.transport;
    this.guard(() => {
      if (tls !== null && this.owner.isTrusted(tls)) this.ready();
      else this.fail("origin_certificate");
    });
  }

  /** `try` without a closure for each read. */
  onBytes(buffer: Buffer, length: number): void {
    this.onPart(buffer, 0, length);
  }

  onPart(buffer: Buffer, start: number, end: number): void {
    try {
      this.receive(buffer, start, end);
    } catch (error) {
      this.broken(error);
    }
  }

  onDrain(): void {
    this.touch();
    this.guard(() => this.sink?.onDrain());
  }

  onEnd(): void {
    this.guard(() => this.ended());
  }

  onClosed(code: string): void {
    this.fail(this.lossOf(code));
  }

  /**
   * Takes a request, whose head and body the caller then writes to `writer`. `responseTimeoutMs`: limit for each piece of
   * the response; 0 means the operator's limit.
   */
  begin(sink: UpstreamSink, method: string, responseTimeoutMs: number): void {
    this.sink = sink;
    this.responseTimeoutMs = responseTimeoutMs || this.owner.limits.responseTimeoutMs;
    this.method = method;
    this.state = HEAD;
    this.interimResponses = 0;
    this.requestSent = this.hasAnswered = false;
    this.scanned = 0;
    this.persistent = true;
    this.touch();
  }

  /** Starts the time limits again, since something moved. */
  touch(): void {
    this.touchedMs = this.owner.timers.nowMs;
  }

  /** The request is complete; without this call the connection cannot serve another one. */
  endRequest(): void {
    this.requestSent = true;
    this.touch();
  }

  /** Ends our side; the other side may go on. */
  endSide(): void {
    this.transport.end();
  }

  pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.transport.pause();
  }

  /** Pauses for a moment, after which there will be something to read. */
  rest(): void {
    if (this.paused) return;
    this.paused = true;
    this.transport.rest();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.touch();
    this.transport.resume();
  }

  /** Closes without telling the sink. */
  abort(): void {
    if (this.state === CLOSED) return;
    this.state = CLOSED;
    this.sink = null;
    this.owner.timers.remove(this);
    this.transport.destroy();
    this.owner.closed(this);
  }

  /** Idle for longer than it may be, although no check has closed it yet: the origin may have. */
  isOverdue(nowMs: number): boolean {
    return nowMs - this.touchedMs > this.idleMs;
  }

  get isHeldByVisitor(): boolean {
    if (!this.isConnected || (this.state !== HEAD && this.state !== BODY)) return false;
    return this.paused || (!this.requestSent && this.transport.queuedBytes === 0);
  }

  get visitorAddress(): string {
    return this.sink?.visitorAddress ?? "";
  }

  get bytesMoved(): number {
    return this.transport.bytesRead + this.writer.bytesTaken;
  }

  /** Sets the time limit for each further piece of the response. */
  allow(responseTimeoutMs: number): void {
    this.responseTimeoutMs = responseTimeoutMs;
  }

  /** Closes, and tells the sink why. */
  giveUp(fault: UpstreamFault): void {
    this.fail(fault);
  }

  check(nowMs: number): void {
    const waitedMs = nowMs - this.touchedMs;
    const { limits } = this.owner;
    if (!this.isConnected) {
      if (waitedMs > limits.connectTimeoutMs) this.fail(this.lossOf("ETIMEDOUT"));
    } else if (this.state === IDLE) {
      if (waitedMs > this.idleMs) this.abort();
    } else if (this.state !== TUNNEL && !this.paused && waitedMs > this.responseTimeoutMs) this.fail("origin_timeout");
  }

  private ready(): void {
    this.isConnected = true;
    this.touch();
    this.owner.connected();
    this.sink?.onConnected();
  }

  private receive(buffer: Buffer, start: number, end: number): void {
    const sink = this.sink;
    // An idle connection that sends something cannot be trusted with a request.
    if (sink === null) return this.abort();
    // A head has one time limit as a whole, or it could come byte by byte for ever.
    if (this.state !== HEAD) this.touch();
    this.hasAnswered = true;
    if (this.state === TUNNEL) sink.onBody(buffer, start, end);
    else if (this.pending.length > 0) {
      this.pending.append(buffer, start, end);
      this.parse(sink, this.pending.buffer, this.pending.start, this.pending.end);
    } else this.parse(sink, buffer, start, end);
    sink.onReadEnd();
  }

  private parse(sink: UpstreamSink, buffer: Buffer, start: number, end: number): void {
    let at = start;
    while (this.state === HEAD) {
      const { originHeadBytesMax, originHeadFieldsMax } = this.owner.limits;
      const from = at + this.scanned;
      const headEnd = findHeadEnd(buffer, at, end, from);
      if ((headEnd < 0 ? end : headEnd) - at > originHeadBytesMax) return this.fail("origin_head_too_large");
      if (headEnd < 0) {
        this.scanned = end - at;
        if (isHopelessStart(buffer, at, end, from, isStatusLine)) this.fail("origin_malformed");
        else if (at < end) this.pending.hold(buffer, at, end);
        else this.pending.clear();
        return;
      }
      this.scanned = 0;
      const fault = parseResponseHead(buffer, at, headEnd, responseHead, originHeadFieldsMax);
      if (fault !== 0) return this.fail(fault === TOO_MANY_FIELDS ? "origin_fields_too_many" : "origin_malformed");
      at = headEnd;
      if (!this.takeHead(sink, buffer)) return;
    }
    this.pending.clear();
    if (this.sink !== sink) return;
    if (this.state === TUNNEL) {
      if (at < end) sink.onBody(buffer, at, end);
      return;
    }
    const bodyEnd = this.body.read(buffer, at, end, sink);
    // Below -1 the body is malformed; its head has been passed on, so the response can only be cut.
    if (bodyEnd < -1) this.fail("origin_malformed");
    else if (bodyEnd >= 0) this.finish(bodyEnd === end);
  }

  /** Returns false if the connection failed over this head. */
  private takeHead(sink: UpstreamSink, buffer: Buffer): boolean {
    const head = responseHead;
    if (head.status === 101) {
      this.state = TUNNEL;
      sink.onSwitch(buffer, head);
      if (this.sink !== sink) return false;
      this.owner.switched(this);
      return true;
    }
    if (head.status < 200) {
      if (++this.interimResponses > INTERIM_RESPONSES_MAX) {
        this.fail("origin_malformed");
        return false;
      }
      this.touch();
      sink.onInterim(buffer, head);
      return this.sink === sink;
    }
    const framing = responseFraming(head, this.method);
    this.persistent = isPersistent(head) && framing !== UNTIL_CLOSE;
    this.idleMs = this.owner.limits.originIdleTimeoutMs;
    if (head.keepAliveIndex >= 0) this.idleMs = announcedIdleMs(head.value(buffer, head.keepAliveIndex), this.idleMs);
    this.body.begin(framing, head.contentLength);
    this.state = BODY;
    this.touch();
    sink.onHead(buffer, head, framing);
    return this.sink === sink;
  }

  /** The response is complete: returns the connection to its pool if it can serve again. */
  private finish(clean: boolean): void {
    const { sink, body } = this;
    const { trailers } = body;
    if (sink === null) return;
    this.sink = null;
    if (clean && this.persistent && this.requestSent && !this.transport.needsDrain) {
      this.state = IDLE;
      this.isReused = true;
      this.resume();
      this.owner.released(this);
    } else this.abort();
    sink.onEnd(trailers);
  }

  /** The origin has closed its side. */
  private ended(): void {
    if (this.state === TUNNEL) this.sink?.onTunnelEnd();
    else if (this.state === BODY && this.body.framing === UNTIL_CLOSE) {
      const { sink } = this;
      this.finish(false);
      sink?.onReadEnd();
    } else this.fail(this.lossOf(""));
  }

  /** The fault of a connection that ended, or was never made, with this code of the system or of TLS. */
  private lossOf(code: string): UpstreamFault {
    if (this.isConnected) return code.startsWith("ERR_SSL_") && !this.hasAnswered ? "origin_handshake" : "origin_closed";
    return this.isHandshaking ? "origin_handshake" : (CONNECT_FAULTS[code] ?? "origin_unreachable");
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
  }

  private broken(error: unknown): void {
    this.owner.report(error);
    this.fail("origin_malformed");
  }

  private fail(fault: UpstreamFault): void {
    const { sink } = this;
    if (this.state === CLOSED) return;
    if (!this.isConnected) this.owner.notConnected(fault as ConnectFault);
    this.abort();
    sink?.onFault(fault);
  }
}

const CONNECT_FAULTS: Readonly<Record<string, ConnectFault>> = {
  ECONNREFUSED: "origin_refused",
  ECONNRESET: "origin_refused",
  ETIMEDOUT: "origin_connect_timeout",
  // No connector of the tunnel is connected.
  ENOTUNNEL: "no_tunnel",
  // This machine has run out of files or ports; the origin is not to blame.
  EMFILE: "no_sockets",
  ENFILE: "no_sockets",
  EADDRNOTAVAIL: "no_sockets",
  ENOBUFS: "no_sockets",
};

/** `Keep-Alive: timeout=5` closes after five seconds: we stop a second earlier, or a request would meet the close. */
function announcedIdleMs(keepAlive: string, mostMs: number): number {
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds === undefined ? mostMs : Math.min(mostMs, Math.max(0, Number(seconds) - 1) * 1000);
}
