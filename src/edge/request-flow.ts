import { newRayId } from "#kernel/ids.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import type { Head } from "#wire/http/head.ts";
import { readTarget } from "#wire/http/target.ts";
import type { CacheReader } from "./cache/cache-reader.ts";
import type { EdgeContext } from "./context.ts";
import type { EdgeErrorName } from "./edge-errors.ts";
import { type Arrival, Exchange } from "./exchange.ts";
import { Forward, type Visitor } from "./forward.ts";
import type { OriginPlan } from "./origin.ts";
import { edgePage } from "./pipeline.ts";

/** The field's status for a client that went away before its answer. */
const CLIENT_CLOSED_REQUEST = 499;
/** Targets and methods of a proxy that visitors choose themselves: not this one. */
const NOT_IMPLEMENTED = new Set(["CONNECT", "TRACE"]);

/**
 * A visitor's request from its head to its row, whatever protocol it came in: through the pipeline, then to a page or
 * to its origin. A head is always one of HTTP/1.1: other protocols write theirs as one, so that everything a
 * request is asked and refused for is asked once. Serves one request after the other where the protocol does.
 */
export class RequestFlow {
  /** The request under way. */
  exchange: Exchange | null = null;
  private readonly edge: EdgeContext;
  private readonly arrival: Arrival;
  private readonly visitor: Visitor;
  private forward: Forward | null = null;
  /** Answers from the cache instead. */
  private reader: CacheReader | null = null;
  /** Payload of the request's body so far. */
  private bodyBytes = 0;

  constructor(edge: EdgeContext, arrival: Arrival, visitor: Visitor) {
    this.edge = edge;
    this.arrival = arrival;
    this.visitor = visitor;
  }

  begin(method: string): Exchange {
    const { clock } = this.edge;
    const nowMs = clock.nowMs();
    const exchange = new Exchange(newRayId(nowMs), nowMs, clock.monotonicMs(), this.arrival);
    exchange.method = method;
    this.exchange = exchange;
    this.bodyBytes = 0;
    return exchange;
  }

  /**
   * Sends the request that was begun on its way; the head is good only during the call. `upgrade` is the protocol to
   * switch to, or empty. Returns what a head that cannot be accepted is refused with.
   */
  take(exchange: Exchange, buffer: Buffer, head: Head, upgrade: string, hasBody: boolean): EdgeErrorName | null {
    if (NOT_IMPLEMENTED.has(head.method)) return "not_implemented";
    const target = readTarget(buffer, head, this.arrival.scheme);
    if (target === null) return "bad_request";
    exchange.describe(buffer, head, target);
    if (this.isBeyondLimit(head.contentLength)) return "body_too_large";
    const page = this.edge.pipeline.request(exchange);
    if (page !== null) {
      this.visitor.sendPage(page);
      return null;
    }
    if (upgrade === "" && exchange.ownOrigin === null && this.fromCache(exchange, buffer, head, hasBody)) return null;
    this.toOrigin(exchange, this.edge.originHeads.write(buffer, head, exchange, upgrade), head.chunked, hasBody);
    return null;
  }

  /** Payload of the request's body. */
  onRequestBody(buffer: Buffer, start: number, end: number): void {
    this.bodyBytes += end - start;
    if (this.isBeyondLimit(this.bodyBytes)) this.refuseBody();
    else this.forward?.onRequestBody(buffer, start, end);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    this.forward?.onRequestEnd(trailers);
    this.forward?.flushRequest();
  }

  /** False when the origin is behind and the visitor should pause. */
  flushRequest(): boolean {
    return this.forward?.flushRequest() !== false;
  }

  /** Bytes of an upgraded connection; false as above. */
  sendRaw(buffer: Buffer, start: number, end: number): boolean {
    return this.forward?.sendRaw(buffer, start, end) !== false;
  }

  endRaw(): void {
    this.forward?.endRaw();
  }

  /** The visitor takes more of the response. */
  onVisitorDrain(): void {
    this.forward?.onVisitorDrain();
    this.reader?.onVisitorDrain();
  }

  /** Nobody waits for the answer any more. */
  abort(): void {
    this.forward?.abort();
    this.forward = null;
    this.reader?.abort();
    this.reader = null;
  }

  /** The answer is written, or never will be: one row for each request, however it ended. */
  finish(bytesIn: number, bytesOut: number): void {
    const { exchange } = this;
    this.forward = null;
    this.reader = null;
    if (exchange === null) return;
    this.exchange = null;
    exchange.bytesIn = bytesIn;
    exchange.bytesOut = bytesOut;
    this.edge.record(exchange);
  }

  /** The visitor went away. */
  leave(bytesIn: number, bytesOut: number): void {
    if (this.exchange !== null && this.exchange.status === 0) this.exchange.status = CLIENT_CLOSED_REQUEST;
    this.abort();
    this.finish(bytesIn, bytesOut);
  }

  private fromCache(exchange: Exchange, buffer: Buffer, head: Head, hasBody: boolean): boolean {
    return this.edge.cache.serve({
      exchange,
      buffer,
      head,
      hasBody,
      visitor: this.visitor,
      taken: (reader) => {
        this.reader = reader;
      },
      goAlone: (originHead) => {
        this.reader = null;
        if (this.exchange === exchange) this.toOrigin(exchange, originHead, false, false);
      },
    });
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

  /** A body whose length nobody announced turned out too long. */
  private refuseBody(): void {
    const { exchange } = this;
    this.abort();
    if (exchange === null) return;
    if (exchange.status === 0) this.visitor.sendPage(edgePage(exchange, "body_too_large"));
    else this.visitor.cut();
  }

  private sendLate(exchange: Exchange, plan: OriginPlan | EdgeErrorName, head: string, chunked: boolean, hasBody: boolean): void {
    // The visitor may have gone away while a name was looked up.
    if (this.exchange !== exchange) return;
    try {
      this.send(exchange, plan, head, chunked, hasBody);
    } catch (error) {
      this.edge.report(error);
      this.visitor.cut();
    }
  }

  private send(exchange: Exchange, plan: OriginPlan | EdgeErrorName, head: string, chunked: boolean, hasBody: boolean): void {
    if (typeof plan === "string") return this.visitor.sendPage(edgePage(exchange, plan));
    this.forward = new Forward(this.edge, { exchange, plan, head, hasBody, chunked }, this.visitor);
    this.forward.start(false);
  }
}
