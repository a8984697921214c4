import type { Socket } from "node:net";
import { newRayId } from "#kernel/ids.ts";
import { NEED_MORE, type Trailer } from "#wire/http/chunked.ts";
import { CR, LF } from "#wire/http/bytes.ts";
import { BodyReader, type Framing, isPersistent, NO_BODY, requestFraming } from "#wire/http/framing.ts";
import { findHeadEnd, Head, HEAD_BYTES_MAX, isHopelessStart, parseRequestHead } from "#wire/http/head.ts";
import { PendingBytes } from "#wire/http/pending-bytes.ts";
import { readTarget } from "#wire/http/target.ts";
import type { EdgeContext } from "./context.ts";
import { type EdgeErrorName, errorForStatus } from "./edge-errors.ts";
import type { Page } from "./error-page.ts";
import { type Arrival, Exchange } from "./exchange.ts";
import { Forward, type Visitor } from "./forward.ts";
import { Http1Responder } from "./http1-responder.ts";
import { upgradeProtocol } from "./origin-head.ts";
import { edgePage } from "./pipeline.ts";
import { type Checked, ProgressMeter } from "./timers.ts";

/** Requests that a client sent ahead wait up to here; beyond, its socket is not read. */
const HELD_BYTES_MAX = 65_536;
/** The field's status for a client that went away before its answer. */
const CLIENT_CLOSED_REQUEST = 499;
const requestHead = new Head();

const IDLE = 0;
const HEAD = 1;
const EXCHANGE = 2;
const TUNNEL = 3;
const CLOSING = 4;
const CLOSED = 5;

/** One visitor's connection of HTTP/1.x: reads requests one after the other, forwards each and writes its response. */
export class ClientConnection implements Visitor, Checked {
  private readonly edge: EdgeContext;
  private readonly socket: Socket;
  private readonly arrival: Arrival;
  private readonly responder: Http1Responder;
  private readonly pending = new PendingBytes();
  private readonly body = new BodyReader();
  private readonly uploadMeter = new ProgressMeter();
  private readonly readerMeter = new ProgressMeter();
  private state = HEAD;
  private sinceMs: number;
  private scanned = 0;
  private exchange: Exchange | null = null;
  private forward: Forward | null = null;
  private upgrade = "";
  private requestComplete = true;
  private originReady = false;
  private readPaused = false;
  private processing = false;
  private received = 0;
  private writtenBefore = 0;

  constructor(edge: EdgeContext, socket: Socket, arrival: Arrival) {
    this.edge = edge;
    this.socket = socket;
    this.arrival = arrival;
    this.sinceMs = edge.timers.nowMs;
    this.responder = new Http1Responder(socket, edge.ray);
    socket.on("data", (buffer: Buffer) => this.guard(() => this.receive(buffer)));
    socket.on("drain", () => this.guard(() => this.forward?.onVisitorDrain()));
    socket.on("end", () => this.guard(() => this.ended()));
    socket.on("error", () => this.socket.destroy());
    socket.on("close", () => this.guard(() => this.closed()));
    edge.timers.add(this);
    edge.connections.add(this);
  }

  /** No further request: an idle connection closes now, a busy one after its response. */
  drain(): void {
    if (this.state === IDLE || (this.state === HEAD && this.pending.length === 0)) this.close();
    else this.responder.keepAlive = false;
  }

  destroy(): void {
    this.socket.destroy();
  }

  check(nowMs: number): void {
    const { limits } = this.edge;
    const waitedMs = nowMs - this.sinceMs;
    if (this.state === IDLE && waitedMs > limits.idleTimeoutMs) this.close();
    else if (this.state === HEAD && waitedMs > limits.headTimeoutMs) this.missHead();
    else if (this.state === CLOSING && waitedMs > limits.lingerMs) this.socket.destroy();
    else if (this.state === TUNNEL && waitedMs > limits.tunnelIdleTimeoutMs) this.socket.destroy();
    else if (this.state === EXCHANGE) this.checkProgress(nowMs);
  }

  onOriginReady(): void {
    this.originReady = true;
    // While bytes are being processed they get there by themselves.
    if (!this.requestComplete && !this.processing) this.resume();
  }

  onOriginDrain(): void {
    this.resume();
  }

  sendInterim(buffer: Buffer, head: Head): void {
    this.responder.interim(buffer, head);
  }

  sendSwitch(buffer: Buffer, head: Head): boolean {
    if (this.upgrade === "" || this.exchange === null) return false;
    this.exchange.status = head.status;
    this.responder.switchTo(buffer, head, this.upgrade);
    this.state = TUNNEL;
    this.sinceMs = this.edge.timers.nowMs;
    if (this.pending.length > 0) this.forward?.sendRaw(Buffer.from(this.pending.buffer.subarray(this.pending.start, this.pending.end)));
    this.pending.clear();
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
    this.sinceMs = this.edge.timers.nowMs;
    this.responder.writer.bytes(buffer, start, end, true);
  }

  endRaw(): void {
    this.responder.writer.flush();
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

  /** Who sent nothing at all needs no answer. */
  private missHead(): void {
    if (this.pending.length > 0) this.refuse("request_timeout");
    else this.close();
  }

  private receive(buffer: Buffer): void {
    this.received += buffer.length;
    if (this.state === CLOSING || this.state === CLOSED) return;
    if (this.state === TUNNEL) {
      this.sinceMs = this.edge.timers.nowMs;
      if (this.forward?.sendRaw(buffer) === false) this.pause();
      return;
    }
    if (this.pending.length > 0) {
      this.pending.append(buffer, 0, buffer.length);
      this.process(this.pending.buffer, this.pending.start, this.pending.end);
    } else this.process(buffer, 0, buffer.length);
  }

  /** Consumes what it can; the rest is kept for later. */
  private process(buffer: Buffer, start: number, end: number): void {
    let at = start;
    this.processing = true;
    while (at < end) {
      const before = at;
      if (this.state === EXCHANGE) {
        if (!this.requestComplete && this.originReady) at = this.readBody(buffer, at, end);
      } else if (this.state === IDLE || this.state === HEAD) at = this.readHead(buffer, at, end);
      else at = end;
      if (at === before) break;
    }
    this.processing = false;
    if (at < end) this.pending.hold(buffer, at, end);
    else this.pending.clear();
    if (this.state !== EXCHANGE) return;
    if (!this.requestComplete && this.originReady && this.forward?.flushRequest() === false) this.pause();
    if (this.pending.length > HELD_BYTES_MAX || (!this.requestComplete && !this.originReady)) this.pause();
  }

  /** Goes on with what was held, once something it waited for has happened. */
  private resume(): void {
    if (this.pending.length > 0 && !this.processing) this.process(this.pending.buffer, this.pending.start, this.pending.end);
    if (this.state === EXCHANGE && !this.requestComplete && this.forward?.flushRequest() === false) return;
    if (this.pending.length <= HELD_BYTES_MAX) this.unpause();
  }

  /** Returns how far it came: not at all where the head is not complete. */
  private readHead(buffer: Buffer, start: number, end: number): number {
    let at = start;
    // RFC 9112 §2.2: an empty line before a request is ignored.
    while (at + 1 < end && buffer[at] === CR && buffer[at + 1] === LF) at += 2;
    if (at === end) return at;
    if (this.state === IDLE) this.enter(HEAD);
    const from = at === start ? at + this.scanned : at;
    const headEnd = findHeadEnd(buffer, at, end, from);
    if (headEnd < 0 || headEnd - at > HEAD_BYTES_MAX) {
      if (headEnd >= 0 || end - at > HEAD_BYTES_MAX) return this.refuse("head_too_large"), end;
      if (isHopelessStart(buffer, at, end, from)) return this.refuse("bad_request"), end;
      this.scanned = end - at;
      return at;
    }
    this.scanned = 0;
    this.takeHead(buffer, at, headEnd);
    return this.state === CLOSING ? end : headEnd;
  }

  private takeHead(buffer: Buffer, start: number, end: number): void {
    const head = requestHead;
    const fault = parseRequestHead(buffer, start, end, head);
    if (fault !== 0) return this.refuse(errorForStatus(fault));
    if (head.method === "CONNECT" || head.method === "TRACE") return this.refuse("not_implemented");
    const target = readTarget(buffer, head, this.arrival.scheme);
    if (target === null) return this.refuse("bad_request");
    const exchange = this.beginExchange(head.method);
    exchange.describe(buffer, head, target);
    this.responder.begin(exchange, head.minorVersion, isPersistent(head) && !this.edge.isDraining());
    const framing = requestFraming(head);
    this.body.begin(framing, head.contentLength);
    this.requestComplete = framing === NO_BODY;
    const page = this.edge.pipeline.request(exchange);
    if (page !== null) return this.answer(page);
    this.upgrade = upgradeProtocol(buffer, head);
    const originHead = this.edge.originHeads.write(buffer, head, exchange, this.upgrade);
    const chunked = head.chunked;
    const plan = this.edge.origins.select(exchange);
    if (plan instanceof Promise) void plan.then((late) => this.guard(() => this.send(exchange, late, originHead, chunked)));
    else this.send(exchange, plan, originHead, chunked);
  }

  private send(exchange: Exchange, plan: Awaited<ReturnType<EdgeContext["origins"]["select"]>>, head: string, chunked: boolean): void {
    // The visitor may have gone away while a name was looked up.
    if (this.exchange !== exchange) return;
    if (typeof plan === "string") return this.answer(edgePage(exchange, plan));
    const hasBody = !this.requestComplete;
    this.forward = new Forward(this.edge, { exchange, plan, head, hasBody, chunked }, this);
    this.forward.start(false);
  }

  /** Returns how far it came. */
  private readBody(buffer: Buffer, start: number, end: number): number {
    const { forward } = this;
    if (forward === null) return end;
    const bodyEnd = this.body.read(buffer, start, end, { onBody: (bytes, from, to) => forward.onRequestBody(bytes, from, to) });
    if (bodyEnd < NEED_MORE) {
      this.refuse(errorForStatus(-bodyEnd));
      return end;
    }
    if (bodyEnd >= 0) {
      this.requestComplete = true;
      this.uploadMeter.stop();
      forward.onRequestEnd(this.body.trailers);
      forward.flushRequest();
    }
    return bodyEnd < 0 ? end : bodyEnd;
  }

  private beginExchange(method: string): Exchange {
    const { clock } = this.edge;
    const exchange = new Exchange(newRayId(), clock.nowMs(), clock.monotonicMs(), this.arrival);
    exchange.method = method;
    this.exchange = exchange;
    this.forward = null;
    this.upgrade = "";
    this.originReady = false;
    this.requestComplete = true;
    this.writtenBefore = this.responder.writer.written;
    this.state = EXCHANGE;
    return exchange;
  }

  /** Answers what is no request we can serve, and reads nothing more from a sender who is not understood. */
  private refuse(name: EdgeErrorName): void {
    const exchange = this.exchange ?? this.beginExchange("");
    this.forward?.abort();
    this.forward = null;
    // A response has begun: all that is left is to break it off.
    if (exchange.status !== 0) return this.cut();
    this.responder.begin(exchange, 1, false);
    this.answer(edgePage(exchange, name));
  }

  private answer(page: Page): void {
    if (this.exchange !== null) this.exchange.status = page.status;
    // What follows an unread body is not a request.
    if (!this.requestComplete) this.responder.keepAlive = false;
    this.responder.page(page);
    this.finish();
  }

  /** The response is written. */
  private finish(): void {
    this.flush();
    this.record();
    this.forward = null;
    if (!this.responder.keepAlive || !this.requestComplete || this.edge.isDraining()) return this.close();
    this.enter(IDLE);
    this.resume();
  }

  private record(): void {
    const { exchange } = this;
    if (exchange === null) return;
    this.exchange = null;
    exchange.bytesIn = this.received;
    exchange.bytesOut = this.responder.writer.written - this.writtenBefore;
    this.received = 0;
    this.uploadMeter.stop();
    this.readerMeter.stop();
    this.edge.record(exchange);
  }

  private enter(state: number): void {
    this.state = state;
    this.sinceMs = this.edge.timers.nowMs;
  }

  /** Ends our side and reads on for a moment: closing over unread bytes would reset what we just sent. */
  private close(): void {
    if (this.state === CLOSED) return;
    this.enter(CLOSING);
    this.pending.clear();
    this.socket.end();
    this.unpause();
  }

  private ended(): void {
    if (this.state === TUNNEL) this.forward?.endRaw();
    else if (this.state === EXCHANGE) this.socket.destroy();
    else this.socket.end();
  }

  private closed(): void {
    if (this.exchange !== null && this.exchange.status === 0) this.exchange.status = CLIENT_CLOSED_REQUEST;
    this.state = CLOSED;
    this.edge.timers.remove(this);
    this.edge.connections.delete(this);
    this.forward?.abort();
    this.forward = null;
    this.record();
  }

  /** Senders and readers who hold a place without moving lose it (http-edge.md, "Slow attacks"). */
  private checkProgress(nowMs: number): void {
    const { progressWindowMs, progressBytesMin } = this.edge.limits;
    if (this.socket.writableNeedDrain) {
      const taken = this.socket.bytesWritten - this.socket.writableLength;
      if (!this.readerMeter.isMoving(taken, nowMs, progressWindowMs, progressBytesMin)) return void this.socket.destroy();
    } else this.readerMeter.stop();
    const uploads = !this.requestComplete && this.originReady && !this.readPaused && !this.responder.hasBegun;
    if (!uploads) this.uploadMeter.stop();
    else if (!this.uploadMeter.isMoving(this.received, nowMs, progressWindowMs, progressBytesMin)) this.refuse("request_timeout");
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
