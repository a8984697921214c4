import type { BodySource } from "#edge/cache/store/body-source.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, responseFraming } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { CACHED_BODY_BYTES_MAX } from "#edge/compression/codecs.ts";
import type { DeferredTee } from "#edge/detection/deferred-tee.ts";
import { EDGE_ERRORS, type EdgeErrorName } from "#edge/pages/edge-errors.ts";
import { errorPage, type Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { HeldResponse } from "#edge/exchange/held-response.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import type { ResponseStages } from "#edge/exchange/response-stages.ts";
import { finishPage } from "#edge/stages/finish-page.ts";
import { browserTtlOf } from "#edge/cache/policy/cache-rule.ts";
import type { CacheStatus } from "#edge/exchange/cache-decision.ts";
import { type Answer, evaluatePreconditions } from "#edge/cache/key/preconditions.ts";
import { hasConditions } from "#edge/cache/key/request-facts.ts";
import type { UnsentBody } from "#edge/exchange/decisions.ts";
import { mediaType } from "#edge/http/media-type.ts";
import { type ResponseField, singleValue } from "#edge/cache/policy/response-fields.ts";
import { storedHead } from "./stored-head.ts";
import type { StoredResponse } from "#edge/cache/store/stored-response.ts";

/** The fill that a reader waits for, as the reader sees it. */
export interface Waited {
  /** The visitor can receive more. */
  onReaderDrain(reader: CacheReader): void;
  onReaderGone(reader: CacheReader): void;
}

/** Size limit of one write: if the visitor is behind, it is copied. */
const CHUNK_BYTES_MAX = 65_536;
const WHOLE: Answer = { kind: "whole" };

/** Answers one visitor from the cache, now or after a wait. Runs the response stages as for a response from the origin. */
export class CacheReader {
  readonly exchange: Exchange;
  /** A range request: gets a part or goes to the origin, but does not get the whole body. */
  wantsPart = false;
  /** Fields of the origin's response that are for this visitor only. */
  own: readonly ResponseField[] = [];
  private readonly pipeline: ResponseStages;
  private readonly visitor: ResponseSink;
  private readonly alone: () => void;
  private waitsFor: Waited | null = null;
  private held: (() => void) | null = null;
  private source: BodySource | null = null;
  private at = 0;
  private end = 0;
  private tap: DeferredTee | null = null;
  /** The response, while rules have not judged its body. */
  private holds: HeldResponse | null = null;
  private over = false;

  /** `alone` sends the request to the origin without the cache. */
  constructor(pipeline: ResponseStages, exchange: Exchange, visitor: ResponseSink, alone: () => void) {
    this.pipeline = pipeline;
    this.exchange = exchange;
    this.visitor = visitor;
    this.alone = alone;
  }

  waitFor(waited: Waited): void {
    this.waitsFor = waited;
  }

  /** Answers with a response whose body is available or arriving. */
  respond(stored: StoredResponse, source: BodySource, status: CacheStatus, nowMs: number): void {
    if (this.over) return source.close?.();
    // A client that sends requests and reads no responses must not make the edge buffer them.
    if (!this.visitor.flush()) {
      this.held = () => this.respond(stored, source, status, nowMs);
      return;
    }
    const { exchange } = this;
    const answer = hasConditions(exchange) ? evaluatePreconditions(exchange, stored, nowMs) : WHOLE;
    const { buffer, head } = storedHead(stored, answer, stored.length, nowMs, browserTtlOf(exchange), this.own);
    if (answer.kind === "not_modified") exchange.unsent = unsentBody(stored);
    if (answer.kind === "whole") exchange.cachedBody = onePiece(stored);
    const framing = responseFraming(head, exchange.method);
    this.sendHead(buffer, head, framing, status);
    if (this.over) return source.close?.();
    this.source = source;
    if (answer.kind === "part") {
      this.at = answer.start;
      this.end = answer.end;
    } else this.end = framing === 0 ? 0 : stored.length;
    this.pump();
  }

  /** Sends the available part of the body; called again when more is available. */
  pump(): void {
    const { source, visitor } = this;
    while (source !== null && !this.over && this.held === null) {
      if (this.at === this.end) return this.finish([]);
      if (this.at > 0 && !visitor.flush()) return;
      const piece = source.from(this.at);
      if (piece === null) return;
      const length = Math.min(piece.length, this.end - this.at, CHUNK_BYTES_MAX);
      this.at += length;
      this.sendBody(piece, 0, length);
    }
  }

  /** RFC 9110 §15.2: for the client whose request went to the origin. */
  sendInterim(buffer: Buffer, head: Head): void {
    if (!this.over) this.visitor.sendInterim(buffer, head);
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing, status: CacheStatus): void {
    const { exchange } = this;
    exchange.cacheStatus = status;
    exchange.status = head.status;
    const instead = this.pipeline.substitute(exchange, buffer, head, framing);
    if (instead === null) this.passHead(buffer, head, framing);
    else if (instead instanceof HeldResponse) this.holds = instead;
    else this.answerInstead(instead);
  }

  passHead(buffer: Buffer, head: Head, framing: Framing): void {
    this.tap = this.pipeline.response(this.exchange, buffer, head, framing);
    this.visitor.sendHead(buffer, head, framing);
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    if (this.over) return;
    if (this.holds !== null) return this.hold(this.holds, buffer, start, end);
    this.passBody(buffer, start, end);
  }

  passBody(buffer: Buffer, start: number, end: number): void {
    this.tap?.chunk(buffer, start, end);
    this.visitor.sendBody(buffer, start, end);
  }

  private hold(held: HeldResponse, buffer: Buffer, start: number, end: number): void {
    if (!held.append(buffer, start, end)) this.sendPage(this.errorPage("overloaded"));
    else if (held.isFull) this.judge(held);
  }

  /** Passes a held response on, or a page instead. */
  private judge(held: HeldResponse): void {
    const page = this.pipeline.substituteHeld(this.exchange, held);
    if (page !== null) return this.answerInstead(page);
    this.holds = null;
    held.passTo(this);
  }

  private answerInstead(page: Page): void {
    this.leave();
    this.visitor.sendPage(page);
  }

  finish(trailers: readonly Trailer[]): void {
    if (this.over) return;
    if (this.holds !== null) this.judge(this.holds);
    if (this.over) return;
    this.leave();
    this.visitor.sendEnd(trailers);
    this.tap?.finish();
  }

  /** Everything sent since the last flush is valid until now. Returns false if the visitor is behind. */
  flush(): boolean {
    const hasRoom = this.visitor.flush();
    this.tap?.settle();
    return hasRoom;
  }

  sendPage(page: Page): void {
    this.answerInstead(finishPage(this.exchange, page));
  }

  private errorPage(name: EdgeErrorName): Page {
    return errorPage(EDGE_ERRORS[name], this.exchange.accept, this.exchange.ray_id);
  }

  /** Aborts a response that has begun. */
  cut(): void {
    if (this.over) return;
    if (this.holds !== null) return this.sendPage(this.errorPage("origin_malformed"));
    this.leave();
    this.tap?.abort();
    this.visitor.cut();
  }

  /** Sends this request to the origin. */
  goAlone(): void {
    if (this.over) return;
    this.over = true;
    this.waitsFor = null;
    this.alone();
  }

  onVisitorDrain(): void {
    if (this.over) return;
    const { held } = this;
    this.held = null;
    if (held !== null) held();
    else if (this.source !== null) this.pump();
    else this.waitsFor?.onReaderDrain(this);
  }

  /** The visitor disconnected. */
  abort(): void {
    if (this.over) return;
    this.leave();
    this.tap?.abort();
    this.waitsFor?.onReaderGone(this);
  }

  private leave(): void {
    this.over = true;
    this.holds?.release();
    this.holds = null;
    this.source?.close?.();
  }
}

function unsentBody({ fields, length }: StoredResponse): UnsentBody {
  const contentType = mediaType(singleValue(fields, "content-type") ?? "");
  return { contentType, isCoded: fields.some(({ key }) => key === "content-encoding"), length };
}

/** The whole body if it is in one buffer and short enough to compress at once; otherwise null. */
function onePiece({ body: [piece], length }: StoredResponse): Buffer | null {
  return piece !== undefined && piece.length === length && length <= CACHED_BODY_BYTES_MAX ? piece : null;
}
