import type { IncomingHttpHeaders } from "node:http";
import { latin1 } from "./bytes.ts";
import type { Head } from "./parsed-head.ts";

/** Fields by lower-case name, as in `IncomingMessage` of node:http; values have one character per byte. */
export type HeaderObject = Record<string, string | string[] | undefined>;

/** Fields that may only occur once; the first counts, as in node:http. */
const FIRST_COUNTS: ReadonlySet<string> = new Set([
  "age",
  "authorization",
  "content-length",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent",
]);

/** The fields of a request: lists are joined (RFC 9110 §5.3), cookies with their own separator (RFC 6265 §5.4). */
export function requestHeaderObject(buffer: Buffer, head: Head): IncomingHttpHeaders {
  const fields: Record<string, string> = {};
  for (let index = 0; index < head.fieldCount; index++) {
    const name = fieldName(buffer, head.offsets[index * 4]!, head.offsets[index * 4 + 1]!);
    const value = head.value(buffer, index);
    const before = fields[name];
    // A name such as `constructor` finds an inherited property, which is not a field.
    if (typeof before !== "string") fields[name] = value;
    else if (!FIRST_COUNTS.has(name)) fields[name] = `${before}${name === "cookie" ? "; " : ", "}${value}`;
  }
  return fields as IncomingHttpHeaders;
}

/** The fields of a response; the lines of one name stay separate. */
export function responseHeaderObject(buffer: Buffer, head: Head): HeaderObject {
  const fields: HeaderObject = {};
  for (let index = 0; index < head.fieldCount; index++) {
    const name = fieldName(buffer, head.offsets[index * 4]!, head.offsets[index * 4 + 1]!);
    const value = head.value(buffer, index);
    const before = fields[name];
    if (typeof before === "string") fields[name] = [before, value];
    else if (Array.isArray(before)) before.push(value);
    else fields[name] = value;
  }
  return fields;
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));
/** A power of two. Senders choose the names, so a new name replaces the one in its place. */
const PLACES = 1024;
const NAME_BYTES_KEPT = 64;
const places: string[] = Array.from({ length: PLACES }, () => "");

/** The name in lower case. Frequent names are cached to avoid new strings. */
function fieldName(buffer: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > NAME_BYTES_KEPT) return latin1(buffer, start, end).toLowerCase();
  let hash = length;
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + LOWER[buffer[i]!]!) | 0;
  const place = (hash ^ (hash >>> 12)) & (PLACES - 1);
  const known = places[place]!;
  if (known.length === length && isSpelled(buffer, start, known)) return known;
  return (places[place] = latin1(buffer, start, end).toLowerCase());
}

function isSpelled(buffer: Buffer, start: number, lower: string): boolean {
  for (let i = 0; i < lower.length; i++) if (LOWER[buffer[start + i]!] !== lower.charCodeAt(i)) return false;
  return true;
}
