import type { Trailer } from "#wire/http/chunked.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { ERROR } from "#wire/http2/codes.ts";
import type { HpackEncoder } from "#wire/http2/hpack/encoder.ts";
import type { RequestFields } from "#wire/http2/request-fields.ts";
import { PendingChunks } from "#wire/http2/pending-chunks.ts";
import type { ServerStream, StreamHandler } from "#wire/http2/stream.ts";
import { ClientDeadlines } from "#wire/connections/http/client-deadlines.ts";
import type { EdgeContext } from "#edge/pipeline/context.ts";
import type { EdgeErrorName } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { ConnectionInfo } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { acceptsWebSocket } from "./web-socket.ts";
import { readRequestHead, readTrailers } from "./request-head.ts";
import { Http2Responder } from "./responder.ts";
import { edgePage } from "#edge/pipeline/pipeline.ts";
import { RequestFlow } from "#edge/pipeline/request-flow.ts";
import type { Checked } from "#kernel/timers.ts";

/** Higher ones are none of HTTP's (RFC 9110 §15). */
const STATUS_MAX = 599;

/** The connection of a stream. */
interface StreamOwner {
  readonly encoder: HpackEncoder;
  forget(request: Http2Stream): void;
  flushLater(request: Http2Stream): void;
}

/** One request of an HTTP/2 connection, and the stream that its answer goes to. */
export class Http2Stream implements ResponseSink, StreamHandler, Checked {
  private readonly edge: EdgeContext;
  private readonly stream: ServerStream;
  private readonly owner: StreamOwner;
  private readonly flow: RequestFlow;
  private readonly responder: Http2Responder;
  /** Made when it is first asked for: most answers are given before. */
  private deadlines: ClientDeadlines | null = null;
  private isReading = false;
  private isFlushDue = false;
  /** What came of the body before anybody took it. */
  private early: PendingChunks | null = null;
  /** When the answer to a request that still comes was given. */
  private answeredMs: number | null = null;
  private received = 0;
  /** What is left of the body by its announced length; -1 where none was. */
  private bodyLeft = -1;
  /** The body has come to its end, and nobody was told yet. */
  private isFinPending = false;
  private trailers: readonly Trailer[] = [];
  /** Of a request for a WebSocket; empty for all others. */
  private webSocketKey = "";
  /** Both sides send what they like. */
  private isTunnel = false;

  constructor(edge: EdgeContext, arrival: ConnectionInfo, stream: ServerStream, owner: StreamOwner) {
    this.edge = edge;
    this.stream = stream;
    this.owner = owner;
    this.flow = new RequestFlow(edge, arrival, this);
    this.responder = new Http2Responder(stream, owner.encoder, edge.ray);
  }

  /** Takes the request by its fields. */
  take(fields: RequestFields, scheme: string): void {
    this.guard(() => {
      const { isRemoteDone } = this.stream;
      const request = readRequestHead(fields, scheme, isRemoteDone);
      if (typeof request === "string") return this.refuse(request);
      const { buffer, head, webSocketKey } = request;
      const isWebSocket = webSocketKey !== "";
      this.webSocketKey = webSocketKey;
      const exchange = this.flow.begin(head.method);
      exchange.http_version = "HTTP/2";
      this.received = head.end;
      this.bodyLeft = head.contentLength;
      const hasBody = !isRemoteDone && head.contentLength !== 0 && !isWebSocket;
      const fault = this.flow.take(exchange, buffer, head, isWebSocket ? "websocket" : "", hasBody);
      if (fault !== null) this.refuse(fault);
      else if (head.contentLength === 0) this.admitBody();
    });
  }

  check(nowMs: number): void {
    const { stream } = this;
    const hasLingered = this.answeredMs !== null && nowMs - this.answeredMs > this.edge.limits.lingerMs;
    // RFC 9113 §8.1: the response is whole, and the rest of the request is not wanted.
    if (hasLingered && stream.isLocalDone) return stream.reset(ERROR.none);
    const { hasBegun, written } = this.responder;
    const isUploading = this.isReading && !stream.isRemoteDone && !hasBegun && !stream.isHeld;
    this.deadlines ??= new ClientDeadlines(this.edge.limits, this.edge.timers);
    if (this.isTunnel) {
      if (this.deadlines.lingering(nowMs, this.edge.limits.tunnelIdleTimeoutMs) !== "fine") this.cut();
      return;
    }
    const behind = stream.pendingBytes;
    const verdict = this.deadlines.exchanging(nowMs, behind === 0 ? null : written - behind, isUploading ? this.received : null);
    if (verdict === "refuse") this.guard(() => this.refuse("request_timeout"));
    else if (verdict !== "fine") this.cut();
  }

  /** Sends what was handed on of the request's body. */
  flushRequest(): void {
    this.isFlushDue = false;
    this.guard(() => {
      if (!this.flow.flushRequest()) this.stream.lag();
    });
  }

  onData(buffer: Buffer, start: number, end: number): void {
    this.guard(() => {
      // What comes after the answer is read and forgotten.
      if (this.flow.exchange === null) return;
      this.received += end - start;
      if (this.bodyLeft >= 0 && (this.bodyLeft -= end - start) < 0) this.stream.refuse();
      else if (this.isTunnel) this.handOnRaw(buffer, start, end);
      else if (this.isReading) this.handOn(buffer, start, end);
      else {
        (this.early ??= new PendingChunks()).append(buffer, start, end);
        this.stream.pause();
      }
    });
  }

  onEnd(trailers: readonly string[]): void {
    this.guard(() => {
      if (this.bodyLeft > 0 && this.flow.exchange !== null) return this.stream.refuse();
      const read = readTrailers(trailers);
      if (read === null) return this.refuse("bad_request");
      this.trailers = read;
      this.isFinPending = true;
      if (this.isReading || this.isTunnel) this.handOnEnd();
    });
  }

  onDrain(): void {
    this.guard(() => this.flow.onVisitorDrain());
  }

  onMalformed(): void {
    const { exchange } = this.flow;
    if (exchange !== null && exchange.status === 0) exchange.status = MALFORMED_STATUS;
  }

  /** The stream has closed, or the visitor went away. */
  onClose(): void {
    this.owner.forget(this);
    this.forgetEarly();
    this.guard(() => this.flow.leave(this.received, this.responder.written));
  }

  admitBody(): void {
    // What follows a request for a WebSocket waits for the answer to it.
    if (this.webSocketKey !== "" || (this.stream.isRemoteDone && !this.isFinPending)) return;
    if (!this.isReading) {
      this.isReading = true;
      this.handOnEarly();
    }
    if (!this.stream.isRemoteDone) this.stream.resume();
    // What comes of the body with its head leaves together with it.
    this.flushLater();
  }

  onOriginDrain(): void {
    this.stream.resume();
  }

  sendInterim(buffer: Buffer, head: Head): void {
    this.guard(() => this.responder.interim(buffer, head));
  }

  /** RFC 8441 §5: the stream itself is the connection from now on. */
  sendSwitch(buffer: Buffer, head: Head): boolean {
    const { exchange } = this.flow;
    // Nobody else could notice that the origin speaks of something else: the visitor has sent no key.
    if (exchange === null || this.webSocketKey === "" || !acceptsWebSocket(buffer, head, this.webSocketKey)) return false;
    this.isTunnel = true;
    this.deadlines?.restart();
    this.guard(() => {
      this.responder.tunnel(buffer, head, exchange);
      this.stream.resume();
      this.handOnEarly();
    });
    return true;
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    const { exchange } = this.flow;
    if (exchange === null) return;
    // To a request for a WebSocket a success would mean that there is one now.
    const isMisleading = this.webSocketKey !== "" && head.status < 300;
    if (head.status <= STATUS_MAX && !isMisleading) return this.responder.head(buffer, head, framing, exchange);
    this.flow.abort();
    this.sendPage(edgePage(exchange, "origin_malformed"));
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    this.responder.body(buffer, start, end);
  }

  sendEnd(trailers: readonly Trailer[]): void {
    this.guard(() => {
      // First, since the end may close the stream.
      this.finish();
      this.responder.end(trailers);
    });
  }

  sendRaw(buffer: Buffer, start: number, end: number): void {
    this.deadlines?.restart();
    this.responder.body(buffer, start, end);
  }

  endRaw(): void {
    this.guard(() => this.responder.end([]));
  }

  flush(): boolean {
    return this.stream.hasRoom();
  }

  sendPage(page: Page): void {
    const { exchange } = this.flow;
    if (exchange === null) return;
    exchange.answerWith(page);
    this.guard(() => {
      this.responder.page(page, exchange);
      this.finish();
      this.responder.end([]);
    });
  }

  /** Resets the stream with INTERNAL_ERROR: half a response must not look whole. */
  cut(): void {
    // Both ways of a WebSocket may have ended in order, with something still to be taken.
    if (this.isTunnel && this.stream.isLocalEnded) this.stream.resetWhenSent();
    else this.stream.reset(ERROR.internal);
  }

  private handOn(buffer: Buffer, start: number, end: number): void {
    this.flow.onRequestBody(buffer, start, end);
    this.flushLater();
  }

  private handOnRaw(buffer: Buffer, start: number, end: number): void {
    this.deadlines?.restart();
    if (!this.flow.sendRaw(buffer, start, end)) this.stream.lag();
  }

  private handOnEarly(): void {
    const { early } = this;
    this.early = null;
    while (early !== null && early.length > 0) {
      const { buffer, start, end } = early;
      if (this.isTunnel) this.handOnRaw(buffer, start, end);
      else this.handOn(buffer, start, end);
      early.drop(end - start);
    }
    if (this.isFinPending) this.handOnEnd();
  }

  private forgetEarly(): void {
    this.early?.clear();
    this.early = null;
  }

  private handOnEnd(): void {
    this.isFinPending = false;
    if (this.flow.exchange === null) return;
    if (this.isTunnel) this.flow.endRaw();
    else this.flow.onRequestEnd(this.trailers);
  }

  private flushLater(): void {
    if (this.isFlushDue) return;
    this.isFlushDue = true;
    this.owner.flushLater(this);
  }

  private refuse(name: EdgeErrorName): void {
    this.flow.abort();
    if (this.responder.hasBegun) return this.cut();
    const exchange = this.flow.exchange ?? this.flow.begin("");
    this.sendPage(edgePage(exchange, name));
  }

  /** The answer is given. What still comes of the request is read for a moment and forgotten, as over HTTP/1.1. */
  private finish(): void {
    this.flow.finish(this.received, this.responder.written);
    if (this.stream.isRemoteDone) return;
    this.answeredMs = this.edge.timers.nowMs;
    this.forgetEarly();
    this.stream.resume();
  }

  /** What is thrown here costs this stream, not its connection and not the worker. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.edge.report(error);
      this.cut();
    }
  }
}

/** Of a request that was reset because it contradicts itself (RFC 9113 §8.1.1), in its row. */
const MALFORMED_STATUS = 400;
