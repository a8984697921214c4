import { newRayId } from "#kernel/crypto/ids.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { keepRequestHead, parseResponseHead } from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";
import { dropFields, fieldNames } from "#wire/http/hop-by-hop.ts";
import { readTarget } from "#wire/http/target.ts";
import type { CacheRequest } from "#edge/cache/cache.ts";
import type { CachedRequest } from "#edge/cache/cached-request.ts";
import type { CacheReader } from "#edge/cache/serve/cache-reader.ts";
import { CompressingSink, type ResponseSource } from "./compressing-sink.ts";
import type { EdgeContext } from "./context.ts";
import type { EdgeErrorName } from "#edge/pages/edge-errors.ts";
import { type ConnectionInfo, Exchange } from "#edge/exchange/exchange.ts";
import { ExcludingSink } from "./excluding-sink.ts";
import { UnpackingSink } from "./unpacking-sink.ts";
import { Forward } from "./forward.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import type { RequestBuffer } from "#edge/exchange/request-buffer.ts";
import type { OriginPlan } from "#edge/exchange/decisions.ts";
import type { Page } from "#edge/pages/error-page.ts";
import { edgePage, NEEDS_BODY } from "./pipeline.ts";

/** Status in the request row when the client disconnects before the response (nginx uses the same number). */
const CLIENT_CLOSED_REQUEST = 499;
/** Methods of forward proxies, which the edge is not. */
const NOT_IMPLEMENTED = new Set(["CONNECT", "TRACE"]);

/** Sent when a client waits for permission to send a body that rules read (RFC 9110 §10.1.1). */
const CONTINUE = { buffer: Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"), head: new Head() };
parseResponseHead(CONTINUE.buffer, 0, CONTINUE.buffer.length, CONTINUE.head);
const EXPECTATIONS = fieldNames(["expect"]);

/** A request that waits until its body is buffered for rules. */
interface Held {
  readonly body: RequestBuffer;
  /** Copies, because the caller reuses the head. */
  readonly buffer: Buffer;
  readonly head: Head;
}

/**
 * Takes a visitor's request, of any HTTP version, from its head to its log row: through the pipeline, then to a page or
 * to its origin. A head always has the form of HTTP/1.1: other versions convert theirs, so that each check exists only
 * once. On a connection that allows it, serves one request after the other.
 */
export class RequestFlow implements ResponseSource {
  /** The request in progress. */
  exchange: Exchange | null = null;
  private readonly edge: EdgeContext;
  private readonly arrival: ConnectionInfo;
  private readonly visitor: CompressingSink;
  private forward: Forward | null = null;
  /** The reader that answers from the cache; null otherwise. */
  private reader: CacheReader | null = null;
  /** Reads a page whose parts are left out for this visitor; null otherwise. */
  private unpacking: UnpackingSink | null = null;
  /** Bytes of the request body so far. */
  private bodyBytes = 0;
  private held: Held | null = null;

  constructor(edge: EdgeContext, arrival: ConnectionInfo, visitor: ResponseSink) {
    this.edge = edge;
    this.arrival = arrival;
    this.visitor = new CompressingSink(visitor, this, edge);
  }

  begin(method: string): Exchange {
    const { clock } = this.edge;
    const nowMs = clock.nowMs();
    const exchange = new Exchange(newRayId(nowMs), nowMs, clock.monotonicMs(), this.arrival);
    exchange.clock = clock;
    exchange.method = method;
    this.exchange = exchange;
    this.bodyBytes = 0;
    return exchange;
  }

  /**
   * Starts processing the request; the head is valid only during the call. `upgrade` is the protocol to switch to, or
   * empty. Returns the error for a head that the edge cannot accept, or null.
   */
  take(exchange: Exchange, buffer: Buffer, head: Head, upgrade: string, hasBody: boolean): EdgeErrorName | null {
    if (NOT_IMPLEMENTED.has(head.method)) return "not_implemented";
    const target = readTarget(buffer, head, this.arrival.scheme);
    if (target === null) return "bad_request";
    exchange.describe(head, target);
    this.findVisitor(exchange);
    if (this.isBeyondLimit(head.contentLength)) return "body_too_large";
    if (hasBody) exchange.body = undefined;
    const verdict = this.edge.pipeline.request(exchange);
    if (verdict === NEEDS_BODY) this.hold(buffer, head);
    else this.answer(exchange, verdict, buffer, head, upgrade, hasBody);
    return null;
  }

  /** Finds the visitor of a request that a trusted proxy sent. */
  private findVisitor(exchange: Exchange): void {
    const { visitors } = this.edge;
    if (visitors === null || !visitors.trusts(this.arrival.clientIp)) return;
    exchange.comeFrom(visitors.of(this.arrival.clientIp, exchange.headers(visitors.field)));
  }

  /** Payload of the request body. */
  onRequestBody(buffer: Buffer, start: number, end: number): void {
    this.bodyBytes += end - start;
    if (this.isBeyondLimit(this.bodyBytes)) return this.refuseBody("body_too_large");
    const { held } = this;
    if (held === null || held.body.isSent) return this.forward?.onRequestBody(buffer, start, end);
    const wasReady = held.body.isReady;
    if (!held.body.append(buffer, start, end)) this.refuseBody("overloaded");
    else if (held.body.isReady && !wasReady) this.judge(held);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    const { held } = this;
    if (held === null || held.body.isSent) {
      this.forward?.onRequestEnd(trailers);
      this.forward?.flushRequest();
      return;
    }
    const wasReady = held.body.isReady;
    held.body.end(trailers);
    if (!wasReady) this.judge(held);
  }

  /** Returns false if the origin is behind or the buffered part is not sent yet; then the visitor should pause. */
  flushRequest(): boolean {
    if (this.held !== null && this.held.body.isReady && !this.held.body.isSent) return false;
    return this.forward?.flushRequest() !== false;
  }

  /** Bytes of an upgraded connection; returns false as in `flushRequest`. */
  sendRaw(buffer: Buffer, start: number, end: number): boolean {
    return this.forward?.sendRaw(buffer, start, end) !== false;
  }

  endRaw(): void {
    this.forward?.endRaw();
  }

  /** The visitor can receive more of the response. */
  onVisitorDrain(): void {
    if (this.visitor.onVisitorDrain()) this.goOn();
  }

  /** The visitor no longer waits for the response. */
  abort(): void {
    this.visitor.abort();
    this.forward?.abort();
    this.forward = null;
    this.reader?.abort();
    this.reader = null;
    this.release();
  }

  /** Ends the request and writes its row, once, whatever the outcome. */
  finish(bytesIn: number, bytesOut: number): void {
    const { exchange } = this;
    this.forward = null;
    this.reader = null;
    this.release();
    if (exchange === null) return;
    this.exchange = null;
    exchange.bytesIn = bytesIn;
    exchange.bytesOut = bytesOut;
    this.edge.record(exchange);
  }

  /** The visitor disconnected. */
  leave(bytesIn: number, bytesOut: number): void {
    if (this.exchange !== null && this.exchange.status === 0) this.exchange.status = CLIENT_CLOSED_REQUEST;
    this.abort();
    this.finish(bytesIn, bytesOut);
  }

  /** Buffers as much of the body as rules may read, then runs them. */
  private hold(buffer: Buffer, head: Head): void {
    if (this.exchange === null) return;
    this.held = { body: this.edge.heldBodies.open(head.contentLength, this.exchange), ...keepRequestHead(buffer, head) };
    if (head.expectContinue) {
      this.visitor.sendInterim(CONTINUE.buffer, CONTINUE.head);
      this.visitor.flush();
      dropFields(this.held.buffer, this.held.head, EXPECTATIONS);
    }
    this.visitor.admitBody();
  }

  private judge({ body, buffer, head }: Held): void {
    const { exchange } = this;
    if (exchange === null) return;
    exchange.body = body;
    const verdict = this.edge.pipeline.request(exchange);
    if (verdict !== NEEDS_BODY) this.answer(exchange, verdict, buffer, head, "", true);
  }

  private answer(exchange: Exchange, page: Page | null, buffer: Buffer, head: Head, upgrade: string, hasBody: boolean): void {
    if (page !== null) return this.visitor.sendPage(page);
    if (upgrade === "" && (exchange.ownOrigin === null || exchange.cacheRule?.cache === true)) {
      const cached = this.edge.cache.read(exchange, hasBody);
      if (cached !== null && this.fromCache(exchange, buffer, head, cached)) return;
    }
    this.toOrigin(exchange, this.edge.originHeads.write(buffer, head, exchange, upgrade), head.chunked, hasBody);
  }

  /** Resumes the response. */
  goOn(): void {
    this.forward?.onVisitorDrain();
    this.reader?.onVisitorDrain();
    this.unpacking?.onVisitorDrain();
  }

  private release(): void {
    this.held?.body.release();
    this.held = null;
    this.unpacking?.release();
    this.unpacking = null;
  }

  private fromCache(exchange: Exchange, buffer: Buffer, head: Head, cached: CachedRequest): boolean {
    const request: CacheRequest = {
      exchange,
      buffer,
      head,
      visitor: this.sinkOf(exchange),
      taken: (reader) => {
        this.reader = reader;
      },
      goAlone: (originHead) => {
        this.reader = null;
        if (this.exchange === exchange) this.toOrigin(exchange, originHead, false, false);
      },
    };
    return this.edge.cache.serve(request, cached);
  }

  private toOrigin(exchange: Exchange, originHead: string, chunked: boolean, hasBody: boolean): void {
    const plan = this.edge.origins.select(exchange);
    if (plan instanceof Promise) void plan.then((late) => this.sendLate(exchange, late, originHead, chunked, hasBody));
    else this.send(exchange, plan, originHead, chunked, hasBody);
  }

  private isBeyondLimit(bodyBytes: number): boolean {
    const { requestBodyBytesMax } = this.edge.limits;
    return requestBodyBytesMax > 0 && bodyBytes > requestBodyBytesMax;
  }

  /** The body is too long, or the buffer is full. */
  private refuseBody(name: EdgeErrorName): void {
    const { exchange } = this;
    this.abort();
    if (exchange === null) return;
    if (exchange.status === 0) this.visitor.sendPage(edgePage(exchange, name));
    else this.visitor.cut();
  }

  private sendLate(exchange: Exchange, plan: OriginPlan | EdgeErrorName, head: string, chunked: boolean, hasBody: boolean): void {
    // The visitor may have disconnected during a name lookup.
    if (this.exchange !== exchange) return;
    try {
      this.send(exchange, plan, head, chunked, hasBody);
    } catch (error) {
      this.edge.report(error);
      this.visitor.cut();
    }
  }

  private sinkOf(exchange: Exchange): ResponseSink {
    if (!exchange.excludes) return this.visitor;
    this.unpacking?.release();
    this.unpacking = new UnpackingSink(new ExcludingSink(this.visitor, exchange), exchange, {
      isCurrent: () => this.exchange === exchange,
      memory: this.edge.heldBodies.share(exchange),
      fail: (name) => this.instead(exchange, name),
      report: (error) => this.edge.report(error),
    });
    return this.unpacking;
  }

  /** Ends the source of a response of which nothing was sent, and answers with an error page. */
  private instead(exchange: Exchange, name: EdgeErrorName): void {
    this.abort();
    this.visitor.sendPage(edgePage(exchange, name));
  }

  private send(exchange: Exchange, plan: OriginPlan | EdgeErrorName, head: string, chunked: boolean, hasBody: boolean): void {
    if (typeof plan === "string") return this.visitor.sendPage(edgePage(exchange, plan));
    const held = this.held?.body ?? null;
    this.forward = new Forward(this.edge, { exchange, plan, head, hasBody, chunked, held }, this.sinkOf(exchange));
    this.forward.start(false);
  }
}
