import type { Trailer } from "#wire/http/chunked.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { Http2Connection } from "#wire/connections/http/http2-connection.ts";
import type { Http2Request } from "#wire/connections/http/http2-request.ts";
import type { RequestService } from "#wire/connections/http/request-service.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import type { EdgeContext } from "#edge/pipeline/context.ts";
import { type EdgeErrorName, errorForStatus } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { ConnectionInfo } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { networkOf } from "#kernel/net/network-of.ts";
import { acceptsWebSocket } from "#edge/origin/switched-protocol.ts";
import { Http2Responder } from "./responder.ts";
import { edgePage } from "#edge/pipeline/pipeline.ts";
import { RequestFlow } from "#edge/pipeline/request-flow.ts";

/** The highest status of HTTP (RFC 9110 §15). */
const STATUS_MAX = 599;
/** Status in the row of a malformed request that was reset (RFC 9113 §8.1.1). */
const MALFORMED_STATUS = 400;

/** A visitor's request over HTTP/2: forwards it and writes the response to its stream. */
export class Http2Visitor implements ResponseSink, RequestService {
  private readonly edge: EdgeContext;
  private readonly request: Http2Request;
  private readonly flow: RequestFlow;
  private readonly responder: Http2Responder;

  constructor(edge: EdgeContext, request: Http2Request, arrival: ConnectionInfo) {
    this.edge = edge;
    this.request = request;
    this.flow = new RequestFlow(edge, arrival, this);
    this.responder = new Http2Responder(request.stream, request.encoder, edge.ray);
  }

  get hasBegun(): boolean {
    return this.responder.hasBegun;
  }

  onHead(buffer: Buffer, head: Head): void {
    const isWebSocket = this.request.webSocketKey !== "";
    const exchange = this.flow.begin(head.method);
    exchange.http_version = "HTTP/2";
    const hasBody = !this.request.isComplete && head.contentLength !== 0 && !isWebSocket;
    const fault = this.flow.take(exchange, buffer, head, isWebSocket ? "websocket" : "", hasBody);
    if (fault !== null) this.refuse(fault);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.flow.onRequestBody(buffer, start, end);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    this.flow.onRequestEnd(trailers);
  }

  onRefused(status: number): void {
    this.refuse(errorForStatus(status));
  }

  flushBody(): boolean {
    return this.flow.flushRequest();
  }

  onDrain(): void {
    this.flow.onVisitorDrain();
  }

  onRaw(buffer: Buffer, start: number, end: number): boolean {
    return this.flow.sendRaw(buffer, start, end);
  }

  onRawEnd(): void {
    this.flow.endRaw();
  }

  onClosed(): void {
    const { exchange } = this.flow;
    if (this.request.isMalformed && exchange?.status === 0) exchange.status = MALFORMED_STATUS;
    this.flow.leave(this.request.received, this.responder.written);
  }

  admitBody(): void {
    this.request.admitBody();
  }

  onOriginDrain(): void {
    this.request.settle();
  }

  sendInterim(buffer: Buffer, head: Head): void {
    this.guard(() => this.responder.interim(buffer, head));
  }

  sendSwitch(buffer: Buffer, head: Head): boolean {
    const { exchange } = this.flow;
    const { webSocketKey } = this.request;
    // Only the edge can notice that the origin speaks another protocol: the visitor has sent no key.
    if (exchange === null || webSocketKey === "" || !acceptsWebSocket(buffer, head, webSocketKey)) return false;
    this.guard(() => {
      this.responder.tunnel(buffer, head, exchange);
      this.request.openTunnel();
    });
    return true;
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    const { exchange } = this.flow;
    if (exchange === null) return;
    // As a response to a request for a WebSocket, a success would mean that there is one now.
    const isMisleading = this.request.webSocketKey !== "" && head.status < 300;
    if (head.status <= STATUS_MAX && !isMisleading) return this.responder.head(buffer, head, framing, exchange);
    this.flow.abort();
    this.sendPage(edgePage(exchange, "origin_malformed"));
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    this.responder.body(buffer, start, end);
  }

  sendEnd(trailers: readonly Trailer[]): void {
    this.guard(() => {
      // First, because the end may close the stream.
      this.finish();
      this.responder.end(trailers);
    });
  }

  sendRaw(buffer: Buffer, start: number, end: number): void {
    this.request.sendRaw(buffer, start, end);
    this.responder.written += end - start;
  }

  endRaw(): void {
    this.guard(() => this.responder.end([]));
  }

  flush(): boolean {
    return this.request.stream.hasRoom();
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

  cut(): void {
    this.request.cut();
  }

  private refuse(name: EdgeErrorName): void {
    this.flow.abort();
    if (this.responder.hasBegun) return this.cut();
    const exchange = this.flow.exchange ?? this.flow.begin("");
    this.sendPage(edgePage(exchange, name));
  }

  /** The response is written but for its end. */
  private finish(): void {
    this.flow.finish(this.request.received, this.responder.written);
    this.request.answered();
  }

  /** For calls of the origin: an exception costs this stream, not the origin's connection. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.edge.report(error);
      this.cut();
    }
  }
}

/** Serves the visitor's connection until it closes. */
export function serveHttp2(edge: EdgeContext, transport: Transport, arrival: ConnectionInfo): void {
  const windows = edge.windows.forConnection(networkOf(arrival.clientIp));
  const createService = (request: Http2Request): Http2Visitor => new Http2Visitor(edge, request, arrival);
  new Http2Connection(edge, transport, { windows, scheme: arrival.scheme, createService });
}
