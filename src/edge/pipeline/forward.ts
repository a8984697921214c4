import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { latin1 } from "#wire/http/bytes.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { chunkStart, lastChunk } from "#wire/http/write.ts";
import type { DeferredTee } from "#edge/detection/deferred-tee.ts";
import type { EdgeErrorName } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { HeldResponse } from "#edge/exchange/held-response.ts";
import type { RequestBuffer } from "#edge/exchange/request-buffer.ts";
import type { OriginPlan } from "#edge/exchange/decisions.ts";
import { TUNNEL_PORT } from "#edge/tunnels/edge-tunnels.ts";
import { edgePage, type Pipeline } from "./pipeline.ts";
import type { UpstreamConnection, UpstreamFault, UpstreamSink } from "#wire/connections/http/upstream-connection.ts";
import type { OriginHeads } from "#edge/origin/origin-head.ts";
import type { UpstreamTaker, Waiting } from "#edge/origin/origin-pool.ts";
import type { UpstreamPools } from "#edge/origin/upstream-pool.ts";
import { phaseNumber } from "#rules/phases.ts";

export interface ForwardRequest {
  readonly exchange: Exchange;
  readonly plan: OriginPlan;
  /** The head to send to the origin. */
  readonly head: string;
  readonly hasBody: boolean;
  /** Sends the body in chunks; otherwise by Content-Length. */
  readonly chunked: boolean;
  /** The part of the body that was buffered for rules; sent first. */
  readonly held: RequestBuffer | null;
}

export interface ForwardDeps {
  readonly pools: UpstreamPools;
  readonly originHeads: Pick<OriginHeads, "trailers">;
  readonly pipeline: Pick<Pipeline, "response" | "substitute" | "substituteHeld" | "readsBodyLater">;
}

const JUDGES = phaseNumber("http_request_firewall_managed");

/** Methods that can be retried when the edge does not know whether the origin received the request (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

const FAULT_ERRORS: Readonly<Record<UpstreamFault, EdgeErrorName>> = {
  origin_refused: "origin_refused",
  origin_connect_timeout: "origin_connect_timeout",
  origin_unreachable: "origin_unreachable",
  origin_handshake: "origin_handshake",
  origin_certificate: "origin_certificate",
  no_tunnel: "tunnel_down",
  no_sockets: "overloaded",
  origin_closed: "origin_malformed",
  origin_malformed: "origin_malformed",
  origin_head_too_large: "origin_head_too_large",
  origin_fields_too_many: "origin_fields_too_many",
  origin_timeout: "origin_timeout",
  visitor_stalled: "request_timeout",
};

/** Smaller pieces of a body that arrive in one read become one chunk, so that a client's framing costs the origin nothing. */
const PIECE_BYTES_MIN = 1024;
const GATHERED_BYTES_MAX = 16_384;

/** Forwards one request to an origin, with retries, and returns its response. */
export class Forward implements UpstreamSink, UpstreamTaker {
  private readonly deps: ForwardDeps;
  private readonly request: ForwardRequest;
  private readonly visitor: ResponseSink;
  private connection: UpstreamConnection | null = null;
  private waiting: Waiting | null = null;
  private attempt = 0;
  private bodyBegun = false;
  /** Payload of small pieces, as text of one character per byte. */
  private gathered = "";
  private retried = false;
  private answered = false;
  private over = false;
  private sentMs = 0;
  private tap: DeferredTee | null = null;
  /** The response, while rules have not judged its body. */
  private holds: HeldResponse | null = null;

  constructor(deps: ForwardDeps, request: ForwardRequest, visitor: ResponseSink) {
    this.deps = deps;
    this.request = request;
    this.visitor = visitor;
  }

  get visitorAddress(): string {
    return this.request.exchange.client_ip;
  }

  start(fresh: boolean): void {
    const { addresses, port, tls } = this.request.plan;
    this.waiting = this.deps.pools.acquire(addresses[this.attempt]!, port, tls, this, fresh);
  }

  /** Payload of the request body. */
  onRequestBody(buffer: Buffer, start: number, end: number): void {
    const writer = this.connection?.writer;
    if (writer === undefined) return;
    this.bodyBegun = true;
    if (!this.request.chunked) return writer.bytes(buffer, start, end, true);
    if (end - start < PIECE_BYTES_MIN) {
      this.gathered += latin1(buffer, start, end);
      if (this.gathered.length >= GATHERED_BYTES_MAX) this.sendGathered();
      return;
    }
    this.sendGathered();
    writer.string(chunkStart(end - start));
    writer.bytes(buffer, start, end, true);
    writer.string("\r\n");
  }

  private sendGathered(): void {
    const { gathered } = this;
    if (gathered === "") return;
    this.gathered = "";
    this.connection?.writer.string(`${chunkStart(gathered.length)}${gathered}\r\n`);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    this.sendGathered();
    if (this.request.chunked) {
      const { exchange } = this.request;
      // Rules against attacks have decided before trailers arrive, which some origins merge into the head.
      const areUnseen = exchange.zone?.readsBody(JUDGES) === true;
      const sent = trailers.length === 0 || areUnseen ? [] : this.deps.originHeads.trailers(trailers, exchange);
      this.connection?.writer.string(lastChunk(sent));
    }
    this.connection?.endRequest();
  }

  /** Returns false if the origin is behind; then the visitor should pause. */
  flushRequest(): boolean {
    this.sendGathered();
    this.connection?.touch();
    return this.connection?.writer.flush() ?? true;
  }

  sendRaw(buffer: Buffer, start: number, end: number): boolean {
    this.connection?.writer.bytes(buffer, start, end, true);
    return this.connection?.writer.flush() ?? true;
  }

  endRaw(): void {
    this.connection?.endSide();
  }

  /** The visitor can receive more of the response. */
  onVisitorDrain(): void {
    this.connection?.resume();
  }

  /** The visitor disconnected. */
  abort(): void {
    this.over = true;
    this.letGo();
    this.tap?.abort();
    this.tap = null;
    this.waiting?.cancel();
    this.connection?.abort();
    this.connection = null;
  }

  onUpstream(connection: UpstreamConnection): void {
    this.connection = connection;
    this.sentMs = this.request.exchange.clock?.monotonicMs() ?? 0;
    const { method, cacheRule: rule } = this.request.exchange;
    connection.begin(this, method, (rule?.read_timeout ?? 0) * 1000);
    connection.writer.string(this.request.head);
    if (!this.request.hasBody) connection.endRequest();
    if (!connection.isConnected) return;
    this.takeBody();
    // If a body follows immediately, the caller flushes it together with the head.
    if (!this.request.hasBody) connection.writer.flush();
  }

  onOverload(): void {
    if (!this.tryNext()) this.fail("overloaded");
  }

  onConnected(): void {
    this.takeBody();
    this.connection?.writer.flush();
  }

  private takeBody(): void {
    const { held, exchange } = this.request;
    if (held !== null) {
      held.sendTo(this, this.deps.pipeline.readsBodyLater(exchange));
      this.flushRequest();
    }
    this.visitor.admitBody();
  }

  onDrain(): void {
    this.visitor.onOriginDrain();
  }

  onInterim(buffer: Buffer, head: Head): void {
    this.visitor.sendInterim(buffer, head);
  }

  onSwitch(buffer: Buffer, head: Head): void {
    const { exchange } = this.request;
    exchange.originStatus = head.status;
    this.answered = this.visitor.sendSwitch(buffer, head);
    if (this.answered) exchange.status = head.status;
    if (this.answered) return;
    this.connection?.abort();
    this.fail("origin_malformed");
  }

  onHead(buffer: Buffer, head: Head, framing: Framing): void {
    const { exchange } = this.request;
    exchange.status = exchange.originStatus = head.status;
    if (exchange.clock !== null) exchange.originTtfbMs = Math.round(exchange.clock.monotonicMs() - this.sentMs);
    this.answered = true;
    const instead = this.deps.pipeline.substitute(exchange, buffer, head, framing);
    if (instead === null) this.passHead(buffer, head, framing);
    else if (instead instanceof HeldResponse) this.holds = instead;
    else this.answerInstead(instead);
  }

  passHead(buffer: Buffer, head: Head, framing: Framing): void {
    this.tap = this.deps.pipeline.response(this.request.exchange, buffer, head, framing);
    this.visitor.sendHead(buffer, head, framing);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    if (this.connection === null) return;
    if (this.request.exchange.originStatus === 101) return this.visitor.sendRaw(buffer, start, end);
    if (this.holds !== null) return this.hold(this.holds, buffer, start, end);
    this.passBody(buffer, start, end);
  }

  passBody(buffer: Buffer, start: number, end: number): void {
    this.tap?.chunk(buffer, start, end);
    this.visitor.sendBody(buffer, start, end);
  }

  private hold(held: HeldResponse, buffer: Buffer, start: number, end: number): void {
    if (!held.append(buffer, start, end)) this.answerInstead(edgePage(this.request.exchange, "overloaded"));
    else if (held.isFull) this.judge(held);
  }

  /** Passes a held response on, or a page instead. */
  private judge(held: HeldResponse): void {
    const page = this.deps.pipeline.substituteHeld(this.request.exchange, held);
    if (page !== null) return this.answerInstead(page);
    this.holds = null;
    held.passTo(this);
  }

  private letGo(): void {
    this.holds?.release();
    this.holds = null;
  }

  onEnd(trailers: readonly Trailer[]): void {
    this.connection = null;
    if (this.holds !== null) this.judge(this.holds);
    if (this.over) return;
    this.over = true;
    this.visitor.sendEnd(trailers);
    this.tap?.finish();
  }

  onReadEnd(): void {
    if (this.over) return;
    if (!this.visitor.flush()) this.connection?.pause();
    this.tap?.settle();
  }

  onTunnelEnd(): void {
    this.visitor.endRaw();
  }

  onFault(fault: UpstreamFault): void {
    const { connection, request } = this;
    this.connection = null;
    if (this.over || connection === null) return;
    if (!connection.isConnected && this.tryNext()) return;
    // A tunnel has others.
    const mayBeGone = connection.isReused || request.plan.port === TUNNEL_PORT;
    const closedWhileIdle = fault === "origin_closed" && mayBeGone && !connection.hasAnswered;
    if (closedWhileIdle && !this.retried && !this.bodyBegun && IDEMPOTENT.has(request.exchange.method)) {
      this.retried = true;
      return this.start(true);
    }
    this.fail(FAULT_ERRORS[fault]);
  }

  /** Without a connection, nothing was sent: tries the next address if there is one. */
  private tryNext(): boolean {
    if (this.over || this.attempt + 1 >= this.request.plan.addresses.length) return false;
    this.attempt++;
    this.start(false);
    return true;
  }

  /**
   * Sends `page` instead of the origin's response. Closes the origin's connection, because the edge would have to read
   * the body otherwise.
   */
  private answerInstead(page: Page): void {
    const { connection } = this;
    this.over = true;
    this.letGo();
    this.connection = null;
    connection?.abort();
    this.visitor.sendPage(page);
  }

  private fail(name: EdgeErrorName): void {
    if (this.over) return;
    this.over = true;
    this.connection = null;
    this.tap?.abort();
    const isUnsent = this.holds !== null;
    this.letGo();
    if (this.answered && !isUnsent) this.visitor.cut();
    else this.visitor.sendPage(edgePage(this.request.exchange, name));
  }
}
