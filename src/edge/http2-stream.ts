import { constants, type ServerHttp2Stream } from "node:http2";
import type { Trailer } from "#wire/http/chunked.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/head.ts";
import { ClientDeadlines } from "./client-deadlines.ts";
import type { EdgeContext } from "./context.ts";
import type { EdgeErrorName } from "./edge-errors.ts";
import type { Page } from "./error-page.ts";
import type { Arrival } from "./exchange.ts";
import type { Visitor } from "./forward.ts";
import { acceptsWebSocket } from "./http2-web-socket.ts";
import { readRequestHead, readTrailers } from "./http2-request-head.ts";
import { Http2Responder } from "./http2-responder.ts";
import { edgePage } from "./pipeline.ts";
import { RequestFlow } from "./request-flow.ts";
import type { Checked } from "#kernel/timers.ts";

/** Node refuses to send others. */
const STATUS_MAX = 599;
const CUT = new Error("the stream was cut");

/** One request of an HTTP/2 connection, and the stream that its answer goes to. */
export class Http2Stream implements Visitor, Checked {
  private readonly edge: EdgeContext;
  private readonly stream: ServerHttp2Stream;
  private readonly flow: RequestFlow;
  private readonly responder: Http2Responder;
  /** Made when it is first asked for: most answers are given before. */
  private deadlines: ClientDeadlines | null = null;
  /** All of the request has come. */
  private isComplete: boolean;
  private isReading = false;
  /** When the answer to a request that still comes was given. */
  private answeredMs: number | null = null;
  /** The visitor is behind. */
  private isWaiting = false;
  private received = 0;
  /** What is left of the body by its announced length; -1 where none was. */
  private bodyLeft = -1;
  private trailers: readonly Trailer[] = [];
  /** Of a request for a WebSocket; empty for all others. */
  private webSocketKey = "";
  /** Both sides send what they like. */
  private isTunnel = false;

  constructor(edge: EdgeContext, arrival: Arrival, stream: ServerHttp2Stream) {
    this.edge = edge;
    this.stream = stream;
    this.isComplete = stream.endAfterHeaders;
    this.flow = new RequestFlow(edge, arrival, this);
    this.responder = new Http2Responder(stream, edge.ray);
    // Node tells each listener's coming to others, so that one which most requests do not need costs them all.
    if (!this.isComplete) stream.on("aborted", () => this.leave());
  }

  /** The stream has closed, or the visitor went away. */
  leave(): void {
    this.guard(() => this.flow.leave(this.received, this.responder.written));
  }

  /** Takes the request by its fields, names and values in turn. */
  take(fields: readonly string[], scheme: string): void {
    this.guard(() => {
      if (!this.isComplete) this.stream.once("trailers", (_named, _flags, raw) => this.guard(() => this.onTrailers(raw as string[])));
      const request = readRequestHead(fields, scheme, this.isComplete);
      if (typeof request === "string") return this.refuse(request);
      const { buffer, head, webSocketKey } = request;
      const isWebSocket = webSocketKey !== "";
      this.webSocketKey = webSocketKey;
      const exchange = this.flow.begin(head.method);
      exchange.http_version = "HTTP/2";
      this.received = head.end;
      this.bodyLeft = head.contentLength;
      const hasBody = !this.isComplete && head.contentLength !== 0 && !isWebSocket;
      const fault = this.flow.take(exchange, buffer, head, isWebSocket ? "websocket" : "", hasBody);
      if (fault !== null) this.refuse(fault);
      else if (head.contentLength === 0) this.admitBody();
    });
  }

  check(nowMs: number): void {
    const hasLingered = this.answeredMs !== null && nowMs - this.answeredMs > this.edge.limits.lingerMs;
    // RFC 9113 §8.1: the response is whole, and the rest of the request is not wanted.
    if (hasLingered && this.stream.writableFinished) return this.stream.close(constants.NGHTTP2_NO_ERROR);
    const { behind, hasBegun, written } = this.responder;
    const isUploading = this.isReading && !this.isComplete && !hasBegun && !this.stream.isPaused();
    this.deadlines ??= new ClientDeadlines(this.edge.limits, this.edge.timers);
    if (this.isTunnel) {
      if (this.deadlines.lingering(nowMs, this.edge.limits.tunnelIdleTimeoutMs) !== "fine") this.cut();
      return;
    }
    const verdict = this.deadlines.exchanging(nowMs, behind === 0 ? null : written - behind, isUploading ? this.received : null);
    if (verdict === "refuse") this.guard(() => this.refuse("request_timeout"));
    else if (verdict !== "fine") this.cut();
  }

  admitBody(): void {
    // What follows a request for a WebSocket waits for the answer to it.
    if (this.isComplete || this.webSocketKey !== "") return;
    if (this.isReading) return void this.stream.resume();
    this.isReading = true;
    this.stream.on("data", (chunk: Buffer) => this.guard(() => this.onData(chunk)));
    this.stream.on("end", () => this.guard(() => this.onDataEnd()));
    // What has come of the body already leaves together with the head; where nothing has, the head does not wait for it.
    setImmediate(() => this.guard(() => this.flow.flushRequest()));
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
    this.guard(() => this.responder.tunnel(buffer, head, exchange));
    this.stream.on("data", (chunk: Buffer) => this.guard(() => this.onRaw(chunk)));
    this.stream.on("end", () => this.guard(() => this.flow.endRaw()));
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
      this.responder.end(trailers);
      this.finish();
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
    let hasRoom = true;
    this.guard(() => {
      hasRoom = this.responder.flush();
      if (!hasRoom && !this.isWaiting) this.waitForDrain();
    });
    return hasRoom;
  }

  sendPage(page: Page): void {
    const { exchange } = this.flow;
    if (exchange === null) return;
    exchange.answerWith(page);
    this.guard(() => {
      this.responder.page(page, exchange);
      this.finish();
    });
  }

  /**
   * Resets the stream with INTERNAL_ERROR. Closing it with that code would end it in order first, and half a response
   * would look whole.
   */
  cut(): void {
    // Both ways of a WebSocket may have ended in order, with something still to be taken.
    if (this.isTunnel && this.stream.writableEnded) this.stream.close(constants.NGHTTP2_NO_ERROR);
    else this.stream.destroy(CUT);
  }

  private waitForDrain(): void {
    this.isWaiting = true;
    this.stream.once("drain", () => {
      this.isWaiting = false;
      this.guard(() => this.flow.onVisitorDrain());
    });
  }

  private onData(chunk: Buffer): void {
    // What comes after the answer is read and forgotten: paused, it would keep the stream from closing.
    if (this.flow.exchange === null) return;
    this.received += chunk.length;
    if (this.bodyLeft >= 0 && (this.bodyLeft -= chunk.length) < 0) return this.refuse("bad_request");
    this.flow.onRequestBody(chunk, 0, chunk.length);
    if (!this.flow.flushRequest()) this.stream.pause();
  }

  private onRaw(chunk: Buffer): void {
    this.received += chunk.length;
    this.deadlines?.restart();
    if (!this.flow.sendRaw(chunk, 0, chunk.length)) this.stream.pause();
  }

  private onTrailers(fields: readonly string[]): void {
    const trailers = readTrailers(fields);
    if (trailers === null) this.refuse("bad_request");
    else this.trailers = trailers;
  }

  private onDataEnd(): void {
    this.isComplete = true;
    if (this.flow.exchange === null) return;
    if (this.bodyLeft > 0) this.refuse("bad_request");
    else this.flow.onRequestEnd(this.trailers);
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
    if (this.isComplete) return;
    this.answeredMs = this.edge.timers.nowMs;
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
