import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, isPersistent } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { Http1Connection } from "#wire/connections/http/http1-connection.ts";
import type { RequestService } from "#wire/connections/http/request-service.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import type { EdgeContext } from "#edge/pipeline/context.ts";
import { type EdgeErrorName, errorForStatus } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { ConnectionInfo, Exchange } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { Http1Responder } from "./http1-responder.ts";
import { upgradeProtocol } from "#edge/origin/origin-head.ts";
import { switchesTo, webSocketKeyOf } from "#edge/origin/switched-protocol.ts";
import { edgePage } from "#edge/pipeline/pipeline.ts";
import { RequestFlow } from "#edge/pipeline/request-flow.ts";

/** A visitor of HTTP/1.x: forwards each request of its connection and writes the response. */
export class Http1Visitor implements ResponseSink, RequestService {
  private readonly edge: EdgeContext;
  private readonly connection: Http1Connection;
  private readonly flow: RequestFlow;
  private readonly responder: Http1Responder;
  private upgrade = "";
  private webSocketKey = "";
  /** Bytes of the connection that are in the rows of requests, and those written before this request. */
  private countedBytes = 0;
  private writtenBefore = 0;

  constructor(edge: EdgeContext, connection: Http1Connection, arrival: ConnectionInfo) {
    this.edge = edge;
    this.connection = connection;
    this.flow = new RequestFlow(edge, arrival, this);
    this.responder = new Http1Responder(connection.writer, edge.ray);
  }

  get hasBegun(): boolean {
    return this.responder.hasBegun;
  }

  onHead(buffer: Buffer, head: Head): void {
    const { isComplete } = this.connection.reader;
    const exchange = this.begin(head.method);
    this.responder.begin(exchange, head.minorVersion, isPersistent(head) && !this.edge.isDraining());
    this.upgrade = upgradeProtocol(buffer, head);
    if (this.upgrade !== "") this.webSocketKey = webSocketKeyOf(buffer, head);
    const fault = this.flow.take(exchange, buffer, head, this.upgrade, !isComplete);
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
    this.flow.leave(this.takeReceived(), this.takeWritten());
  }

  admitBody(): void {
    this.connection.admitBody();
  }

  onOriginDrain(): void {
    this.connection.settle();
  }

  sendInterim(buffer: Buffer, head: Head): void {
    this.responder.interim(buffer, head);
  }

  sendSwitch(buffer: Buffer, head: Head): boolean {
    if (this.upgrade === "" || !switchesTo(buffer, head, { name: this.upgrade, webSocketKey: this.webSocketKey })) return false;
    const early = this.connection.openTunnel();
    if (early === null) return false;
    this.responder.switchTo(buffer, head, this.upgrade);
    if (early.length > 0) this.flow.sendRaw(early, 0, early.length);
    this.connection.settle();
    return true;
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    this.endIfUnread();
    this.responder.head(buffer, head, framing);
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    this.responder.body(buffer, start, end);
  }

  sendEnd(trailers: readonly Trailer[]): void {
    this.responder.end(trailers);
    this.finish();
  }

  sendRaw(buffer: Buffer, start: number, end: number): void {
    this.connection.sendRaw(buffer, start, end);
  }

  endRaw(): void {
    this.flush();
    this.connection.transport.end();
  }

  flush(): boolean {
    return this.connection.writer.flush();
  }

  sendPage(page: Page): void {
    this.flow.exchange?.answerWith(page);
    this.endIfUnread();
    this.responder.page(page);
    this.finish();
  }

  cut(): void {
    const { transport, isTunnel } = this.connection;
    this.flush();
    // Both directions of an upgraded connection ended normally; any other end must not look complete.
    if (isTunnel) transport.destroySoon();
    // TLS itself distinguishes an end in order from any other (RFC 8446 §6.1).
    else if (this.responder.endsWithConnection && this.flow.exchange?.scheme === "http") transport.reset();
    else transport.destroy();
  }

  /** Reads nothing more, and answers with an error page if no response has begun. */
  private refuse(name: EdgeErrorName): void {
    this.connection.reader.stop();
    this.flow.abort();
    const exchange = this.flow.exchange ?? this.begin("");
    if (exchange.status !== 0) return this.cut();
    this.responder.begin(exchange, 1, false);
    this.sendPage(edgePage(exchange, name));
  }

  private begin(method: string): Exchange {
    this.upgrade = "";
    this.writtenBefore = this.connection.writer.written;
    return this.flow.begin(method);
  }

  /**
   * No request follows while the edge drains, or if the response precedes the end of the request's body, which may never
   * come.
   */
  private endIfUnread(): void {
    if (this.edge.isDraining() || !this.connection.reader.isComplete) this.responder.keepAlive = false;
  }

  /** The response is written. */
  private finish(): void {
    this.flush();
    this.flow.finish(this.takeReceived(), this.takeWritten());
    this.connection.answered(this.responder.keepAlive);
  }

  /** Bytes of this request, without those of requests sent ahead. */
  private takeReceived(): number {
    const { reader, received } = this.connection;
    const upTo = reader.isStopped ? received : reader.consumed;
    const bytes = upTo - this.countedBytes;
    this.countedBytes = upTo;
    return bytes;
  }

  private takeWritten(): number {
    return this.connection.writer.written - this.writtenBefore;
  }
}

/** Serves the visitor's connection until it closes. */
export function serveHttp1(edge: EdgeContext, transport: Transport, arrival: ConnectionInfo): void {
  const connection = new Http1Connection(edge, transport);
  connection.serve(new Http1Visitor(edge, connection, arrival));
}
