import { sensitiveHeaders, type ServerHttp2Stream } from "node:http2";
import type { Trailer } from "#wire/http/chunked.ts";
import { CHUNKED, type Framing, isBodiless, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/head.ts";
import type { Page } from "./error-page.ts";
import type { Exchange } from "./exchange.ts";
import type { RayField } from "./http1-responder.ts";
import { fieldsByName, interimFields, type RawFields, RESET_CONTENT, responseFields, tunnelFields } from "./http2-response-fields.ts";
import { pageFields } from "./page-fields.ts";

/** Writes one response to a stream. What one read of the origin leads to leaves in as few frames as can be. */
export class Http2Responder {
  /** A final head was taken: an error page can no longer be sent. */
  hasBegun = false;
  /** Bytes of heads, as HTTP/1.1 would write their fields, and of bodies. */
  written = 0;
  private readonly stream: ServerHttp2Stream;
  private readonly ray: RayField;
  /** Names of fields with another value in each response. */
  private readonly unique: readonly string[];
  /** What was not sent yet. */
  private fields: RawFields | null = null;
  private gathered: Buffer | null = null;
  private mayHaveTrailers = false;
  private isBodiless = false;

  constructor(stream: ServerHttp2Stream, ray: RayField) {
    this.stream = stream;
    this.ray = ray;
    this.unique = [ray.name];
  }

  /** Bytes that the visitor has not taken; 0 where it keeps up. */
  get behind(): number {
    const { stream } = this;
    return stream.writableNeedDrain || (stream.writableEnded && !stream.writableFinished) ? stream.writableLength : 0;
  }

  interim(buffer: Buffer, head: Head): void {
    if (this.isOpen && !this.stream.headersSent) this.stream.additionalHeaders(interimFields(buffer, head));
  }

  head(buffer: Buffer, head: Head, framing: Framing, exchange: Exchange): void {
    this.hasBegun = true;
    this.mayHaveTrailers = framing === CHUNKED;
    this.isBodiless = framing === NO_BODY || head.status === RESET_CONTENT || isBodiless(head.status);
    this.fields = responseFields(buffer, head, framing, exchange, this.ray);
    this.written += head.end - head.fieldsStart;
  }

  /** RFC 8441 §5: success, where HTTP/1.1 switches protocols. */
  tunnel(buffer: Buffer, head: Head, exchange: Exchange): void {
    this.hasBegun = true;
    this.fields = tunnelFields(buffer, head, exchange, this.ray);
    this.written += head.end - head.fieldsStart;
  }

  body(buffer: Buffer, start: number, end: number): void {
    if (this.isBodiless) return;
    const before = this.gathered?.length ?? 0;
    // The origin's reads share one buffer.
    const copy = Buffer.allocUnsafe(before + end - start);
    this.gathered?.copy(copy);
    buffer.copy(copy, before, start, end);
    this.gathered = copy;
    this.written += end - start;
  }

  end(trailers: readonly Trailer[]): void {
    const { stream, gathered } = this;
    this.gathered = null;
    if (!this.isOpen) return;
    // With all of the response here it is known whether it has any.
    if (this.fields !== null) this.mayHaveTrailers = trailers.length > 0;
    this.respond(gathered === null && !this.mayHaveTrailers);
    if (this.mayHaveTrailers) stream.once("wantTrailers", () => this.sendTrailers(trailers));
    if (gathered !== null) stream.end(gathered);
    else if (!stream.writableEnded) stream.end();
  }

  page(page: Page, exchange: Exchange): void {
    const body = Buffer.from(page.body);
    this.hasBegun = true;
    this.fields = [":status", String(page.status), ...pageFields(page, body.length, exchange, this.ray.name).flat()];
    // The answer to HEAD has been ended already.
    this.gathered = this.stream.writableEnded || body.length === 0 ? null : body;
    this.written += body.length;
    this.end([]);
  }

  /** Sends what was gathered. False when the visitor is behind and the source should pause until `drain`. */
  flush(): boolean {
    const { stream, gathered } = this;
    this.gathered = null;
    if (!this.isOpen) return true;
    this.respond(false);
    if (gathered !== null) stream.write(gathered);
    return !stream.writableNeedDrain;
  }

  private get isOpen(): boolean {
    return !this.stream.destroyed && !this.stream.closed;
  }

  private respond(endStream: boolean): void {
    const { fields } = this;
    if (fields === null) return;
    this.fields = null;
    // In the table that both sides keep of fields, what no other response has would push out what others share, and each
    // response would be compared with all that are in there (RFC 7541 §2.3.2, §6.2.3).
    (fields as unknown as Record<symbol, readonly string[]>)[sensitiveHeaders] = this.unique;
    this.stream.respond(fields, endStream ? END : this.mayHaveTrailers ? TRAILERS : undefined);
  }

  private sendTrailers(trailers: readonly Trailer[]): void {
    if (this.isOpen) this.stream.sendTrailers(fieldsByName(trailers.flatMap(({ name, value }) => [name, value])));
  }
}

const END = { endStream: true };
const TRAILERS = { waitForTrailers: true };
