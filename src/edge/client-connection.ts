import type { Socket } from "node:net";
import { newRayId } from "#kernel/ids.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, isPersistent } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/head.ts";
import { readTarget } from "#wire/http/target.ts";
import { ClientDeadlines, type Verdict } from "./client-deadlines.ts";
import type { EdgeContext, OpenConnection } from "./context.ts";
import type { EdgeErrorName } from "./edge-errors.ts";
import type { Page } from "./error-page.ts";
import { type Arrival, Exchange } from "./exchange.ts";
import { Forward, type Visitor } from "./forward.ts";
import { Http1Reader, type RequestHandler } from "./http1-reader.ts";
import { Http1Responder } from "./http1-responder.ts";
import { upgradeProtocol } from "./origin-head.ts";
import type { OriginPlan } from "./origin.ts";
import { edgePage } from "./pipeline.ts";

/** The field's status for a client that went away before its answer. */
const CLIENT_CLOSED_REQUEST = 499;
/** Targets and methods of a proxy that visitors choose themselves: not this one. */
const NOT_IMPLEMENTED = new Set(["CONNECT", "TRACE"]);

/** Waits for a request; a new connection has the time of a head, one that was served before that of an idle one. */
const AWAITING = 0;
const EXCHANGE = 1;
const TUNNEL = 2;
const CLOSING = 3;
const CLOSED = 4;

/** One visitor's connection of HTTP/1.x: takes its requests one after the other, forwards each and writes its response. */
export class ClientConnection implements Visitor, RequestHandler, OpenConnection {
  private readonly edge: EdgeContext;
  private readonly socket: Socket;
  private readonly arrival: Arrival;
  private readonly reader: Http1Reader;
  private readonly responder: Http1Responder;
  private readonly deadlines: ClientDeadlines;
  private state = AWAITING;
  private hasServed = false;
  private exchange: Exchange | null = null;
  private forward: Forward | null = null;
  private upgrade = "";
  private readPaused = false;
  private received = 0;
  private writtenBefore = 0;

  constructor(edge: EdgeContext, socket: Socket, arrival: Arrival) {
    this.edge = edge;
    this.socket = socket;
    this.arrival = arrival;
    this.deadlines = new ClientDeadlines(edge.limits, edge.timers);
    this.reader = new Http1Reader(this);
    this.responder = new Http1Responder(socket, edge.ray);
    socket.on("data", (buffer: Buffer) => this.guard(() => this.receive(buffer)));
    socket.on("drain", () => this.guard(() => this.forward?.onVisitorDrain()));
    socket.on("end", () => this.guard(() => this.ended()));
    socket.on("error", () => this.socket.destroy());
    socket.on("close", () => this.guard(() => this.closed()));
    edge.timers.add(this);
    edge.connections.add(this);
  }

  drain(): void {
    if (this.state === AWAITING && !this.reader.isMidHead) this.close();
    else this.responder.keepAlive = false;
  }

  destroy(): void {
    this.socket.destroy();
  }

  check(nowMs: number): void {
    const verdict = this.judge(nowMs);
    if (verdict === "refuse") this.onMalformed("request_timeout");
    else if (verdict === "close") this.close();
    else if (verdict === "destroy") this.socket.destroy();
  }

  onHead(buffer: Buffer, head: Head): void {
    if (NOT_IMPLEMENTED.has(head.method)) return this.onMalformed("not_implemented");
    const target = readTarget(buffer, head, this.arrival.scheme);
    if (target === null) return this.onMalformed("bad_request");
    const exchange = this.beginExchange(head.method);
    exchange.describe(buffer, head, target);
    this.responder.begin(exchange, head.minorVersion, isPersistent(head) && !this.edge.isDraining());
    const page = this.edge.pipeline.request(exchange);
    if (page !== null) return this.answer(page);
    this.upgrade = upgradeProtocol(buffer, head);
    const originHead = this.edge.originHeads.write(buffer, head, exchange, this.upgrade);
    const chunked = head.chunked;
    const plan = this.edge.origins.select(exchange);
    if (plan instanceof Promise) void plan.then((late) => this.guard(() => this.send(exchange, late, originHead, chunked)));
    else this.send(exchange, plan, originHead, chunked);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.forward?.onRequestBody(buffer, start, end);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    this.forward?.onRequestEnd(trailers);
    this.forward?.flushRequest();
  }

  onMalformed(name: EdgeErrorName): void {
    this.reader.stop();
    this.forward?.abort();
    this.forward = null;
    const exchange = this.exchange ?? this.beginExchange("");
    // A response has begun: all that is left is to break it off.
    if (exchange.status !== 0) return this.cut();
    this.responder.begin(exchange, 1, false);
    this.answer(edgePage(exchange, name));
  }

  onOriginReady(): void {
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
    if (this.upgrade === "" || this.exchange === null) return false;
    this.exchange.status = head.status;
    this.responder.switchTo(buffer, head, this.upgrade);
    this.enter(TUNNEL);
    const early = this.reader.stop();
    if (early.length > 0) this.forward?.sendRaw(early);
    this.unpause();
    return true;
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    if (this.exchange !== null) this.exchange.status = head.status;
    if (this.edge.isDraining()) this.responder.keepAlive = false;
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
    this.socket.end();
  }

  flush(): boolean {
    return this.responder.writer.flush();
  }

  sendError(name: EdgeErrorName): void {
    if (this.exchange !== null) this.answer(edgePage(this.exchange, name));
  }

  cut(): void {
    this.flush();
    // Both ways of an upgraded connection ended in order; anything else must not look complete.
    if (this.state === TUNNEL) this.socket.destroySoon();
    else this.socket.destroy();
  }

  private receive(buffer: Buffer): void {
    this.received += buffer.length;
    if (this.state === TUNNEL) {
      this.deadlines.restart();
      if (this.forward?.sendRaw(buffer) === false) this.pause();
      return;
    }
    // The time for a head runs from its first byte.
    if (this.state === AWAITING && this.hasServed && !this.reader.isMidHead) this.deadlines.restart();
    this.reader.feed(buffer);
    this.settle();
  }

  /** After bytes were handed on: sends what was gathered for the origin, and reads on where both sides have room. */
  private settle(): void {
    const hasRoom = !this.reader.isReadingBody || this.forward?.flushRequest() !== false;
    if (hasRoom && !this.reader.isFull) this.unpause();
    else this.pause();
  }

  private send(exchange: Exchange, plan: OriginPlan | EdgeErrorName, head: string, chunked: boolean): void {
    // The visitor may have gone away while a name was looked up.
    if (this.exchange !== exchange) return;
    if (typeof plan === "string") return this.answer(edgePage(exchange, plan));
    this.forward = new Forward(this.edge, { exchange, plan, head, hasBody: !this.reader.isComplete, chunked }, this);
    this.forward.start(false);
  }

  private beginExchange(method: string): Exchange {
    const { clock } = this.edge;
    const nowMs = clock.nowMs();
    const exchange = new Exchange(newRayId(nowMs), nowMs, clock.monotonicMs(), this.arrival);
    exchange.method = method;
    this.exchange = exchange;
    this.upgrade = "";
    this.writtenBefore = this.responder.writer.written;
    this.enter(EXCHANGE);
    return exchange;
  }

  private answer(page: Page): void {
    if (this.exchange !== null) this.exchange.status = page.status;
    // What follows an unread body is not a request.
    if (!this.reader.isComplete) this.responder.keepAlive = false;
    this.responder.page(page);
    this.finish();
  }

  /** The response is written. */
  private finish(): void {
    this.flush();
    this.forward = null;
    this.record();
    if (!this.responder.keepAlive || !this.reader.isComplete || this.edge.isDraining()) return this.close();
    this.hasServed = true;
    this.enter(AWAITING);
    this.reader.next();
    this.settle();
  }

  /** Once for each exchange, however it ended. */
  private record(): void {
    const { exchange } = this;
    if (exchange === null) return;
    this.exchange = null;
    exchange.bytesIn = this.received;
    exchange.bytesOut = this.responder.writer.written - this.writtenBefore;
    this.received = 0;
    this.edge.record(exchange);
  }

  private enter(state: number): void {
    this.state = state;
    this.deadlines.restart();
  }

  /** Ends our side and reads on for a moment: closing over unread bytes would reset what we just sent. */
  private close(): void {
    if (this.state === CLOSED) return;
    this.enter(CLOSING);
    this.reader.stop();
    this.socket.end();
    this.unpause();
  }

  /** A client that ends its side amid an exchange is taken to be gone. */
  private ended(): void {
    if (this.state === TUNNEL) this.forward?.endRaw();
    else if (this.state === EXCHANGE) this.socket.destroy();
    else this.socket.end();
  }

  private closed(): void {
    if (this.exchange !== null && this.exchange.status === 0) this.exchange.status = CLIENT_CLOSED_REQUEST;
    this.state = CLOSED;
    this.reader.stop();
    this.edge.timers.remove(this);
    this.edge.connections.delete(this);
    this.forward?.abort();
    this.forward = null;
    this.record();
  }

  private judge(nowMs: number): Verdict {
    const { limits } = this.edge;
    if (this.state === AWAITING) return this.deadlines.awaiting(nowMs, this.reader.isMidHead, this.hasServed);
    if (this.state !== EXCHANGE)
      return this.deadlines.lingering(nowMs, this.state === TUNNEL ? limits.tunnelIdleTimeoutMs : limits.lingerMs);
    const isUploading = this.reader.isReadingBody && !this.readPaused && !this.responder.hasBegun;
    const { bytesWritten, writableLength, writableNeedDrain } = this.socket;
    return this.deadlines.exchanging(nowMs, writableNeedDrain ? bytesWritten - writableLength : null, isUploading ? this.received : null);
  }

  private pause(): void {
    if (this.readPaused) return;
    this.readPaused = true;
    this.socket.pause();
  }

  private unpause(): void {
    if (!this.readPaused) return;
    this.readPaused = false;
    this.socket.resume();
  }

  /** What is thrown here costs this connection, not the worker. */
  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.edge.report(error);
      this.socket.destroy();
    }
  }
}
