import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { MemoryShare } from "#kernel/fair-memory.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { PackedPage } from "#edge/exclusion/packed-page.ts";
import type { EdgeErrorName } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";

const PIECE_BYTES = 65_536;

/** The request whose response this is. */
export interface UnpackedRequest {
  /** False once it is over, because the visitor has left or has an answer. */
  isCurrent(): boolean;
  readonly memory: MemoryShare;
  /** Ends the source of the response, and answers with an error page. */
  fail(name: EdgeErrorName): void;
  report(error: unknown): void;
}

/**
 * Reads a page that the origin compressed although asked not to, for the exclusion of its parts. Nothing is sent until the
 * whole page could be read, so a visitor gets an error page instead of a damaged one.
 */
export class UnpackingSink implements ResponseSink {
  private readonly visitor: ResponseSink;
  private readonly exchange: Exchange;
  private readonly request: UnpackedRequest;
  private packed: PackedPage | null = null;
  private head: { readonly buffer: Buffer; readonly head: Head; readonly framing: Framing } | null = null;
  private trailers: readonly Trailer[] = [];
  /** Bytes that the visitor has not taken. Null until the page is read. */
  private page: Buffer | null = null;

  constructor(visitor: ResponseSink, exchange: Exchange, request: UnpackedRequest) {
    this.visitor = visitor;
    this.exchange = exchange;
    this.request = request;
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    const { packing } = this.exchange;
    if (packing.length === 0 || framing === NO_BODY) return this.visitor.sendHead(buffer, head, framing);
    const start = head.lineStart(buffer);
    this.head = { buffer: Buffer.from(buffer.subarray(start, head.end)), head: head.copyFrom(start), framing };
    this.packed = new PackedPage(packing, this.request.memory);
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    if (this.packed === null) return this.visitor.sendBody(buffer, start, end);
    if (this.request.isCurrent() && !this.packed.append(buffer, start, end)) this.fail("overloaded");
  }

  sendEnd(trailers: readonly Trailer[]): void {
    const { packed } = this;
    if (packed === null) return this.visitor.sendEnd(trailers);
    if (!this.request.isCurrent()) return;
    this.trailers = trailers;
    packed.unpack().then(
      (page) => this.send(page),
      (error: unknown) => this.broken(error),
    );
  }

  flush(): boolean {
    return this.packed === null ? this.visitor.flush() : true;
  }

  cut(): void {
    // Nothing was sent, so the visitor may learn what happened.
    if (this.packed !== null && this.page === null && this.request.isCurrent()) this.fail("origin_malformed");
    else this.visitor.cut();
  }

  admitBody(): void {
    this.visitor.admitBody();
  }

  onOriginDrain(): void {
    this.visitor.onOriginDrain();
  }

  sendInterim(buffer: Buffer, head: Head): void {
    this.visitor.sendInterim(buffer, head);
  }

  sendSwitch(buffer: Buffer, head: Head): boolean {
    return this.visitor.sendSwitch(buffer, head);
  }

  sendRaw(buffer: Buffer, start: number, end: number): void {
    this.visitor.sendRaw(buffer, start, end);
  }

  endRaw(): void {
    this.visitor.endRaw();
  }

  sendPage(page: Page): void {
    this.visitor.sendPage(page);
  }

  /** The visitor can receive more. */
  onVisitorDrain(): void {
    if (this.page !== null && this.request.isCurrent()) this.goOn(this.page);
  }

  /** The request is over. */
  release(): void {
    this.packed?.release();
  }

  private send(page: Buffer | EdgeErrorName): void {
    const { head } = this;
    if (!this.request.isCurrent() || head === null) return;
    if (typeof page === "string") return this.fail(page);
    this.page = page;
    this.visitor.sendHead(head.buffer, head.head, head.framing);
    this.goOn(page);
  }

  private goOn(page: Buffer): void {
    for (let at = 0; at < page.length; at += PIECE_BYTES) {
      this.visitor.sendBody(page, at, Math.min(page.length, at + PIECE_BYTES));
      this.page = page.subarray(at + PIECE_BYTES);
      if (!this.visitor.flush()) return;
    }
    this.page = null;
    this.visitor.sendEnd(this.trailers);
  }

  private fail(name: EdgeErrorName): void {
    this.packed?.release();
    this.request.fail(name);
  }

  private broken(error: unknown): void {
    this.request.report(error);
    if (this.request.isCurrent()) this.visitor.cut();
  }
}
