import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, isPersistent } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { EdgeContext, OpenConnection } from "#edge/pipeline/context.ts";
import { type EdgeErrorName, errorForStatus } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { ConnectionInfo, Exchange } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { ClientDeadlines, type Waiting } from "#wire/connections/http/client-deadlines.ts";
import {
  ANSWERED,
  ANSWERED_BEHIND,
  AWAITING,
  BEGUN,
  BEHIND,
  CAUGHT_UP,
  CLOSED,
  CLOSING,
  EXCHANGE,
  GONE,
  IMPOSSIBLE,
  ImpossibleEventError,
  LAST,
  nextState,
  StalledExchangeError,
  SWITCHED,
  TUNNEL,
} from "#wire/connections/http/client-states.ts";
import { Http1Reader, PADDING, type RequestHandler } from "#wire/connections/http/http1-reader.ts";
import { Http1Responder } from "./http1-responder.ts";
import { upgradeProtocol } from "#edge/origin/origin-head.ts";
import { edgePage } from "#edge/pipeline/pipeline.ts";
import { RequestFlow } from "#edge/pipeline/request-flow.ts";
import { SocketWriter } from "#wire/connections/transport/socket-writer.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";

/** One visitor's connection of HTTP/1.x: takes its requests one after the other, forwards each and writes its response. */
export class ClientConnection implements ResponseSink, RequestHandler, TransportHandler, OpenConnection, Waiting {
  private readonly edge: EdgeContext;
  private readonly transport: Transport;
  private readonly flow: RequestFlow;
  private readonly reader: Http1Reader;
  private readonly responder: Http1Responder;
  private readonly deadlines: ClientDeadlines;
  private state: number = AWAITING;
  hasServed = false;
  private upgrade = "";
  private readPaused = false;
  private received = 0;
  /** Of these, what stands in rows. */
  private counted = 0;
  private writtenBefore = 0;

  constructor(edge: EdgeContext, transport: Transport, arrival: ConnectionInfo) {
    this.edge = edge;
    this.transport = transport;
    this.flow = new RequestFlow(edge, arrival, this);
    this.deadlines = new ClientDeadlines(edge.limits, edge.timers);
    this.reader = new Http1Reader(this);
    this.responder = new Http1Responder(new SocketWriter(transport), edge.ray);
    transport.attach(this);
    edge.timers.add(this);
    edge.connections.add(this);
  }

  /** `buffer[0, length)` is good only during the call. */
  onBytes(buffer: Buffer, length: number): void {
    // Without a closure for each read.
    try {
      this.receive(buffer, length);
    } catch (error) {
      this.broken(error);
    }
  }

  onDrain(): void {
    this.guard(() => this.drained());
  }

  onEnd(): void {
    this.guard(() => this.ended());
  }

  onClosed(): void {
    this.guard(() => this.closed());
  }

  drain(): void {
    if ((this.state === AWAITING || this.state === BEHIND) && !this.reader.isMidHead) this.close();
    else this.responder.keepAlive = false;
  }

  destroy(): void {
    this.transport.destroy();
  }

  check(nowMs: number): void {
    const verdict = this.deadlines.judge(this.state, nowMs, this);
    if (verdict === "refuse") this.refuse("request_timeout");
    else if (verdict === "close") this.close();
    else if (verdict === "destroy") this.transport.destroy();
    else if (verdict === "stalled") this.broken(new StalledExchangeError());
  }

  get isMidHead(): boolean {
    return this.reader.isMidHead;
  }

  get bytesTaken(): number | null {
    const { needsDrain, queuedBytes } = this.transport;
    const isTaking = this.state === CLOSING ? queuedBytes > 0 : needsDrain;
    return isTaking ? this.responder.writer.bytesTaken : null;
  }

  get bytesSent(): number | null {
    return this.reader.isReadingBody && !this.readPaused && !this.responder.hasBegun ? this.received : null;
  }

  get bytesMoved(): number {
    return this.received + this.responder.writer.written + this.responder.writer.bytesTaken;
  }

  onHead(buffer: Buffer, head: Head): void {
    const exchange = this.beginExchange(head.method);
    if (exchange === null) return;
    this.responder.begin(exchange, head.minorVersion, isPersistent(head) && !this.edge.isDraining());
    this.upgrade = upgradeProtocol(buffer, head);
    const fault = this.flow.take(exchange, buffer, head, this.upgrade, !this.reader.isComplete);
    if (fault !== null) this.refuse(fault);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.flow.onRequestBody(buffer, start, end);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    this.flow.onRequestEnd(trailers);
  }

  onMalformed(status: number): void {
    if (status === PADDING) this.close();
    else this.refuse(errorForStatus(status));
  }

  admitBody(): void {
    this.reader.admitBody();
    // Amid a read the body follows at once, and goes out together with the head.
    if (!this.reader.isRunning) this.settle();
  }

  onOriginDrain(): void {
    this.settle();
  }

  sendInterim(buffer: Buffer, head: Head): void {
    this.responder.interim(buffer, head);
  }

  sendSwitch(buffer: Buffer, head: Head): boolean {
    if (this.upgrade === "") return false;
    if (!this.move(SWITCHED)) return false;
    this.responder.switchTo(buffer, head, this.upgrade);
    const early = this.reader.stop();
    if (early.length > 0) this.flow.sendRaw(early, 0, early.length);
    this.unpause();
    return true;
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    // Nor where the answer comes before the request's end: whether that still comes, nobody knows.
    if (this.edge.isDraining() || !this.reader.isComplete) this.responder.keepAlive = false;
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
    this.deadlines.restart();
    this.responder.writer.bytes(buffer, start, end, true);
  }

  endRaw(): void {
    this.flush();
    this.transport.end();
  }

  flush(): boolean {
    return this.responder.writer.flush();
  }

  sendPage(page: Page): void {
    this.flow.exchange?.answerWith(page);
    // What follows an unread body is not a request.
    if (!this.reader.isComplete) this.responder.keepAlive = false;
    this.responder.page(page);
    this.finish();
  }

  cut(): void {
    this.flush();
    // Both ways of an upgraded connection ended in order; anything else must not look complete.
    if (this.state === TUNNEL) this.transport.destroySoon();
    // TLS tells an end in order from any other by itself (RFC 8446 §6.1).
    else if (this.responder.endsWithConnection && this.flow.exchange?.scheme === "http") this.transport.reset();
    else this.transport.destroy();
  }

  /** Nothing more is read; what was asked gets an error page where it still can. */
  private refuse(name: EdgeErrorName): void {
    this.reader.stop();
    this.flow.abort();
    const exchange = this.flow.exchange ?? this.beginExchange("");
    if (exchange === null) return;
    // A response has begun: all that is left is to break it off.
    if (exchange.status !== 0) return this.cut();
    this.responder.begin(exchange, 1, false);
    this.sendPage(edgePage(exchange, name));
  }

  private receive(buffer: Buffer, length: number): void {
    this.received += length;
    if (this.state === TUNNEL) {
      this.deadlines.restart();
      if (!this.flow.sendRaw(buffer, 0, length)) this.pause();
      return;
    }
    const { isMidHead } = this.reader;
    this.reader.feed(buffer, length);
    // The time for a head runs from its first byte; empty lines before it are none.
    if (this.state === AWAITING && this.hasServed && !isMidHead && this.reader.isMidHead) this.deadlines.restart();
    this.settle();
  }

  /** After bytes were handed on: sends what was gathered for the origin, and reads on where both sides have room. */
  private settle(): void {
    const hasRoom = !this.reader.isReadingBody || this.flow.flushRequest();
    if (hasRoom && !this.reader.isFull && this.state !== BEHIND) this.unpause();
    else this.pause();
  }

  /** Null where no request can begin. */
  private beginExchange(method: string): Exchange | null {
    if (!this.move(BEGUN)) return null;
    this.upgrade = "";
    this.writtenBefore = this.responder.writer.written;
    return this.flow.begin(method);
  }

  /** The response is written. */
  private finish(): void {
    this.flush();
    this.flow.finish(this.takeReceived(), this.responder.writer.written - this.writtenBefore);
    if (!this.responder.keepAlive || !this.reader.isComplete || this.edge.isDraining()) return this.close();
    this.hasServed = true;
    // Or somebody who asks without reading would have us gather answers without end.
    if (this.transport.needsDrain) this.move(ANSWERED_BEHIND);
    else if (this.move(ANSWERED)) this.reader.next();
    this.settle();
  }

  private drained(): void {
    if (this.state !== BEHIND) return this.flow.onVisitorDrain();
    if (this.move(CAUGHT_UP)) this.reader.next();
    this.settle();
  }

  /** Of this request: what was sent ahead is the next one's. */
  private takeReceived(): number {
    const upTo = this.reader.isStopped ? this.received : this.reader.consumed;
    const bytes = upTo - this.counted;
    this.counted = upTo;
    return bytes;
  }

  /** False where this cannot be: then the connection is over. */
  private move(event: number): boolean {
    const next = nextState(this.state, event);
    if (next === IMPOSSIBLE) {
      this.broken(new ImpossibleEventError(this.state, event));
      return false;
    }
    this.state = next;
    this.deadlines.restart();
    return true;
  }

  /** Ends our side and reads on for a moment: closing over unread bytes would reset what we just sent. */
  private close(): void {
    if (this.state === CLOSED || !this.move(LAST)) return;
    this.reader.stop();
    this.transport.end();
    this.unpause();
  }

  /** A client that ends its side amid an exchange is taken to be gone. */
  private ended(): void {
    if (this.state === TUNNEL) this.flow.endRaw();
    else if (this.state === EXCHANGE) this.transport.destroy();
    else this.transport.end();
  }

  private closed(): void {
    this.move(GONE);
    this.reader.stop();
    this.edge.timers.remove(this);
    this.edge.connections.delete(this);
    this.flow.leave(this.takeReceived(), this.responder.writer.written - this.writtenBefore);
  }

  private pause(): void {
    if (this.readPaused) return;
    this.readPaused = true;
    this.transport.pause();
  }

  private unpause(): void {
    if (!this.readPaused) return;
    this.readPaused = false;
    this.transport.resume();
  }

  /** What is thrown here costs this connection, not the worker. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.broken(error);
    }
  }

  private broken(error: unknown): void {
    this.edge.report(error);
    this.transport.destroy();
  }
}
