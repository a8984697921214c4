import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, isBodiless, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { HpackEncoder } from "#wire/http2/hpack/encoder.ts";
import type { ServerStream } from "#wire/http2/stream.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { RayField } from "#edge/http/ray-field.ts";
import { RESET_CONTENT, writeInterim, writePage, writeResponse, writeTunnel } from "./response-fields.ts";

/** Writes one response to a stream. The output of all streams of a connection in one tick leaves together. */
export class Http2Responder {
  /** A final head was sent or queued: an error page can no longer be sent. */
  hasBegun = false;
  /** Bytes of heads, as HTTP/1.1 would write their fields, and of bodies. */
  written = 0;
  private readonly stream: ServerStream;
  private readonly encoder: HpackEncoder;
  private readonly ray: RayField;
  private isBodiless = false;

  constructor(stream: ServerStream, encoder: HpackEncoder, ray: RayField) {
    this.stream = stream;
    this.encoder = encoder;
    this.ray = ray;
  }

  interim(buffer: Buffer, head: Head): void {
    if (this.hasBegun || this.stream.isClosed) return;
    writeInterim(this.encoder, buffer, head);
    this.stream.sendHead();
  }

  head(buffer: Buffer, head: Head, framing: Framing, exchange: Exchange): void {
    this.isBodiless = framing === NO_BODY || head.status === RESET_CONTENT || isBodiless(head.status);
    writeResponse(this.encoder, buffer, head, framing, exchange, this.ray);
    this.begin(head);
  }

  /** RFC 8441 §5: a success, where HTTP/1.1 switches protocols. */
  tunnel(buffer: Buffer, head: Head, exchange: Exchange): void {
    writeTunnel(this.encoder, buffer, head, exchange, this.ray);
    this.begin(head);
  }

  body(buffer: Buffer, start: number, end: number): void {
    if (this.isBodiless) return;
    this.stream.send(buffer, start, end);
    this.written += end - start;
  }

  /** Writes a page of the edge, but for its end. */
  page(page: Page, exchange: Exchange): void {
    const body = Buffer.from(page.body);
    this.hasBegun = true;
    writePage(this.encoder, page, body.length, exchange, this.ray);
    this.stream.sendHead();
    if (exchange.method !== "HEAD") this.stream.send(body, 0, body.length);
    this.written += body.length;
  }

  end(trailers: readonly Trailer[]): void {
    this.stream.end(trailers);
  }

  private begin(head: Head): void {
    this.hasBegun = true;
    this.stream.sendHead();
    this.written += head.end - head.fieldsStart;
  }
}
