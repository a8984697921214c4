import type { Trailer } from "#wire/http/chunked.ts";
import { CHUNKED, type Framing, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import { ExcludedParts } from "#edge/exclusion/excluded-parts.ts";
import type { Page } from "#edge/pages/error-page.ts";

/** Leaves the marked parts out of one response, for a visitor who does not get them. */
export class ExcludingSink implements ResponseSink {
  private readonly visitor: ResponseSink;
  private readonly exchange: Exchange;
  /** Null to pass the body unchanged. */
  private parts: ExcludedParts | null = null;

  constructor(visitor: ResponseSink, exchange: Exchange) {
    this.visitor = visitor;
    this.exchange = exchange;
  }

  sendHead(buffer: Buffer, head: Head, framing: Framing): void {
    const isCut = this.exchange.excludes && framing !== NO_BODY;
    if (isCut) this.parts = new ExcludedParts();
    this.visitor.sendHead(buffer, head, isCut ? CHUNKED : framing);
  }

  sendBody(buffer: Buffer, start: number, end: number): void {
    if (this.parts === null) return this.visitor.sendBody(buffer, start, end);
    this.parts.take(buffer.subarray(start, end), (part) => this.visitor.sendBody(part, 0, part.length));
  }

  sendEnd(trailers: readonly Trailer[]): void {
    const rest = this.parts?.rest();
    if (rest !== undefined && rest.length > 0) this.visitor.sendBody(rest, 0, rest.length);
    this.visitor.sendEnd(trailers);
  }

  flush(): boolean {
    return this.visitor.flush();
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

  cut(): void {
    this.visitor.cut();
  }
}
