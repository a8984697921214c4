import { latin1 } from "#wire/http/bytes.ts";
import { type Framing, isBodiless, NO_BODY } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/head.ts";
import { dropFields } from "#wire/http/hop-by-hop.ts";
import type { Exchange } from "./exchange.ts";
import type { RayField } from "./http1-responder.ts";
import { dropEdited } from "./response-edits.ts";

/** Names and values in turn, as node:http2 takes and gives them. */
export type RawFields = string[];

/** RFC 9110 §15.3.6: without content, whatever the origin sent. */
export const RESET_CONTENT = 205;

/** The head of a response from an origin or the cache, as HTTP/2 sends it. */
export function responseFields(buffer: Buffer, head: Head, framing: Framing, exchange: Exchange, ray: RayField): RawFields {
  const { responseEdits: edits } = exchange;
  dropFields(buffer, head, ray.names);
  if (edits !== null) dropEdited(buffer, head, edits);
  const fields = keptFields(buffer, head);
  if (edits !== null) for (const { name, value } of edits.add) fields.push(name, value);
  const tellsLength = framing !== NO_BODY || head.status === 304 || !isBodiless(head.status);
  if (head.contentLength >= 0 && tellsLength && head.status !== RESET_CONTENT) fields.push("content-length", String(head.contentLength));
  if (exchange.variesByCoding) fields.push("vary", "Accept-Encoding");
  if (exchange.cacheStatus !== null) fields.push(ray.cacheStatus, exchange.cacheStatus);
  fields.push(ray.name, exchange.ray_id);
  return fields;
}

const OK = "200";
/** Answers a field that was not the visitor's. */
const ACCEPT_FIELD = "sec-websocket-accept";

/** The answer to a request for a WebSocket, from the head with which the origin switched protocols. */
export function tunnelFields(buffer: Buffer, head: Head, exchange: Exchange, ray: RayField): RawFields {
  const [status, , ...fields] = responseFields(buffer, head, NO_BODY, exchange, ray);
  const kept: RawFields = [status!, OK];
  for (let i = 0; i + 1 < fields.length; i += 2) if (fields[i] !== ACCEPT_FIELD) kept.push(fields[i]!, fields[i + 1]!);
  return kept;
}

/** The fields of an interim response, which node:http2 takes by name. */
export const interimFields = (buffer: Buffer, head: Head): Record<string, string | string[]> => fieldsByName(keptFields(buffer, head));

/** Fields of one name in one list. */
export function fieldsByName(fields: RawFields): Record<string, string | string[]> {
  const byName: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase();
    const value = fields[i + 1]!;
    const before = byName[name];
    byName[name] = before === undefined ? value : [before, value].flat();
  }
  return byName;
}

/** Node refuses it, and it speaks of an upgrade that there is not (RFC 9113 §3.1). */
const SETTINGS_FIELD = "http2-settings";

function keptFields(buffer: Buffer, head: Head): RawFields {
  const fields: RawFields = [":status", String(head.status)];
  // One string of all lines, of which each name and value is a piece: reading each from the buffer would cost a call each.
  const lines = latin1(buffer, head.fieldsStart, head.end);
  const { offsets, dropped, fieldsStart } = head;
  for (let index = 0; index < head.fieldCount; index++) {
    if (dropped[index] !== 0) continue;
    const at = index * 4;
    const name = lines.slice(offsets[at]! - fieldsStart, offsets[at + 1]! - fieldsStart).toLowerCase();
    if (name !== SETTINGS_FIELD) fields.push(name, lines.slice(offsets[at + 2]! - fieldsStart, offsets[at + 3]! - fieldsStart));
  }
  return fields;
}
