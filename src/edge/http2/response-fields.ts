import { spells } from "#wire/http/bytes.ts";
import { type Framing, isBodiless, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { dropFields, fieldNames } from "#wire/http/hop-by-hop.ts";
import type { HpackEncoder } from "#wire/http2/hpack/encoder.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import type { RayField } from "#edge/http/ray-field.ts";
import { pageFields } from "#edge/exchange/page-fields.ts";
import { receivedDate } from "#edge/exchange/date-field.ts";
import { dropEdited } from "#edge/http/header-edits.ts";

/** Has no content, whatever the origin sends (RFC 9110 §15.3.6). */
export const RESET_CONTENT = 205;
/** The status that stands for HTTP/1.1's switch of protocols (RFC 8441 §5). */
const OK = 200;

/** Writes the head of a response from an origin or the cache. */
export function writeResponse(
  encoder: HpackEncoder,
  buffer: Buffer,
  head: Head,
  framing: Framing,
  exchange: Exchange,
  ray: RayField,
): void {
  encoder.begin();
  encoder.status(head.status);
  const date = receivedDate(head, exchange);
  if (date !== "") encoder.text("date", date);
  writeFields(encoder, buffer, head, framing, exchange, ray);
}

/** Answers a field that the visitor did not send. */
const ACCEPT_FIELD = fieldNames(["sec-websocket-accept"]);

/** Writes the response to a request for a WebSocket, from the head with which the origin switched protocols. */
export function writeTunnel(encoder: HpackEncoder, buffer: Buffer, head: Head, exchange: Exchange, ray: RayField): void {
  encoder.begin();
  encoder.status(OK);
  dropFields(buffer, head, ACCEPT_FIELD);
  writeFields(encoder, buffer, head, NO_BODY, exchange, ray);
}

/** Writes an interim response. */
export function writeInterim(encoder: HpackEncoder, buffer: Buffer, head: Head): void {
  encoder.begin();
  encoder.status(head.status);
  writeKept(encoder, buffer, head);
}

/** Writes the head of a page of the edge. */
export function writePage(encoder: HpackEncoder, page: Page, bodyBytes: number, exchange: Exchange, ray: RayField): void {
  encoder.begin();
  encoder.status(page.status);
  for (const [name, value] of pageFields(page, bodyBytes, exchange, ray.name))
    if (name === ray.name) encoder.unique(name, value);
    else encoder.text(name, value);
}

function writeFields(encoder: HpackEncoder, buffer: Buffer, head: Head, framing: Framing, exchange: Exchange, ray: RayField): void {
  const { responseEdits: edits } = exchange;
  dropFields(buffer, head, ray.names);
  if (edits !== null) dropEdited(buffer, head, edits);
  writeKept(encoder, buffer, head);
  if (edits !== null) for (const { name, value } of edits.add) encoder.text(name, value);
  const tellsLength = framing !== NO_BODY || head.status === 304 || !isBodiless(head.status);
  if (head.contentLength >= 0 && tellsLength && head.status !== RESET_CONTENT) encoder.contentLength(head.contentLength);
  if (exchange.variesByCoding) encoder.text("vary", "Accept-Encoding");
  if (exchange.cacheStatus !== null) encoder.text(ray.cacheStatus, exchange.cacheStatus);
  // Kept out of the shared table: a value that occurs once would evict fields that others use.
  encoder.unique(ray.name, exchange.ray_id);
}

/** Announces an upgrade that HTTP/2 does not have (RFC 9113 §3.1). */
const SETTINGS_FIELD = "http2-settings";

function writeKept(encoder: HpackEncoder, buffer: Buffer, head: Head): void {
  const { offsets, dropped } = head;
  for (let index = 0; index < head.fieldCount; index++) {
    if (dropped[index] !== 0) continue;
    const at = index * 4;
    const nameStart = offsets[at]!;
    const nameEnd = offsets[at + 1]!;
    if (nameEnd - nameStart === SETTINGS_FIELD.length && spells(buffer, nameStart, SETTINGS_FIELD)) continue;
    encoder.line(buffer, nameStart, nameEnd, offsets[at + 2]!, offsets[at + 3]!);
  }
}
