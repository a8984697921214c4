import type { RayField } from "#edge/http/ray-field.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { type Framing, isBodiless, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { dropFields } from "#wire/http/hop-by-hop.ts";
import { chunkStart, framingField, forwardedFields, lastChunk, statusLine } from "#wire/http/write.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { pageFields } from "#edge/exchange/page-fields.ts";
import { receivedDate } from "#edge/exchange/date-field.ts";
import { addedLines, dropEdited, type Field } from "#edge/http/header-edits.ts";
import type { SocketWriter } from "#wire/connections/transport/socket-writer.ts";

/** Writes responses to a visitor of HTTP/1.x, each framed for that visitor whatever the origin's framing was. */
export class Http1Responder {
  readonly writer: SocketWriter;
  /** The connection serves another request after this response. */
  keepAlive = true;
  /** A final head was written: an error page can no longer be sent. */
  hasBegun = false;
  /** Only the connection's end tells where the body ends. */
  endsWithConnection = false;
  private readonly ray: RayField;
  private minorVersion = 1;
  private isHead = false;
  private chunked = false;
  /** The response's exchange: `begin` comes before everything else. */
  private exchange!: Exchange;

  constructor(writer: SocketWriter, ray: RayField) {
    this.writer = writer;
    this.ray = ray;
  }

  begin(exchange: Exchange, minorVersion: number, keepAlive: boolean): void {
    this.exchange = exchange;
    this.isHead = exchange.method === "HEAD";
    this.minorVersion = minorVersion;
    this.keepAlive = keepAlive;
    this.hasBegun = this.chunked = this.endsWithConnection = false;
  }

  /** HTTP/1.0 has no interim responses. */
  interim(buffer: Buffer, head: Head): void {
    if (this.minorVersion === 1) this.writer.string(`${statusLine(buffer, head)}${forwardedFields(buffer, head)}\r\n`);
  }

  switchTo(buffer: Buffer, head: Head, protocol: string): void {
    this.hasBegun = true;
    this.writer.string(`${statusLine(buffer, head)}${this.fields(buffer, head)}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
  }

  head(buffer: Buffer, head: Head, framing: Framing): void {
    this.hasBegun = true;
    let frame = "";
    if (framing === NO_BODY) {
      // A response to HEAD and a 304 say what the length would be; a 204 and its like never have one (RFC 9110 §8.6).
      if (head.contentLength >= 0 && (head.status === 304 || !isBodiless(head.status))) frame = framingField(head.contentLength);
    } else if (head.contentLength >= 0) frame = framingField(head.contentLength);
    else if (this.minorVersion === 1) {
      this.chunked = true;
      frame = framingField(null);
    } else {
      this.endsWithConnection = true;
      this.keepAlive = false;
    }
    const date = receivedDate(head, this.exchange);
    if (date !== "") frame = `Date: ${date}\r\n${frame}`;
    this.writer.string(`${statusLine(buffer, head)}${this.fields(buffer, head)}${frame}${this.connectionField()}\r\n`);
  }

  body(buffer: Buffer, start: number, end: number): void {
    if (!this.chunked) return this.writer.lastBytes(buffer, start, end);
    this.writer.string(chunkStart(end - start));
    this.writer.bytes(buffer, start, end, true);
    this.writer.string("\r\n");
  }

  end(trailers: readonly Trailer[]): void {
    if (this.chunked) this.writer.string(lastChunk(trailers));
  }

  page(page: Page): void {
    this.hasBegun = true;
    const body = Buffer.from(page.body);
    const fields = pageFields(page, body.length, this.exchange, this.ray.name);
    this.writer.string(`HTTP/1.1 ${page.status} ${page.reason}\r\n${fieldLines(fields)}${this.connectionField()}\r\n`);
    if (!this.isHead) this.writer.bytes(body, 0, body.length, false);
  }

  /** The fields of the origin, those that edits add, and the edge's own. */
  private fields(buffer: Buffer, head: Head): string {
    const { ray_id: rayId, responseEdits: edits, cacheStatus } = this.exchange;
    dropFields(buffer, head, this.ray.names);
    const varies = this.exchange.variesByCoding ? "Vary: Accept-Encoding\r\n" : "";
    const cached = cacheStatus === null ? "" : `${this.ray.cacheStatus}: ${cacheStatus}\r\n`;
    if (edits !== null) dropEdited(buffer, head, edits);
    const added = edits === null ? "" : addedLines(edits);
    return `${forwardedFields(buffer, head)}${added}${varies}${cached}${this.ray.lineStart}${rayId}\r\n`;
  }

  private connectionField(): string {
    if (!this.keepAlive) return "Connection: close\r\n";
    return this.minorVersion === 0 ? "Connection: keep-alive\r\n" : "";
  }
}

function fieldLines(fields: readonly Field[]): string {
  let text = "";
  for (const [name, value] of fields) text += `${name}: ${value}\r\n`;
  return text;
}
