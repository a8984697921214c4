import { spells } from "./bytes.ts";
import { readConnection } from "./hop-by-hop.ts";
import type { Head, HeadFault } from "./parsed-head.ts";
import { maskSessionCookie, setsSessionCookie } from "./session-cookie.ts";

/** Processes one field: stores it in the head and decides whether it is dropped, or refuses the message. */
type FieldReader = (buffer: Buffer, head: Head, index: number) => HeadFault;

type Row = readonly [name: string, read: FieldReader];

/** Fields that the parser itself interprets, found by length and then by name. */
export interface KnownFields {
  read(buffer: Buffer, head: Head, index: number): HeadFault;
}

const drop: FieldReader = (_buffer, head, index) => {
  head.dropped[index] = 1;
  return 0;
};

/** May occur once only, because servers would interpret a second one differently. */
const noteHost: FieldReader = (_buffer, head, index) => {
  if (head.hostIndex !== -1) return 400;
  head.hostIndex = index;
  head.dropped[index] = 1;
  return 0;
};

/** Stores the index of a field. Each field has its own setter, because writing a property by a variable name is slower. */
const note =
  (put: (head: Head, index: number) => void, dropped: boolean): FieldReader =>
  (_buffer, head, index) => {
    put(head, index);
    if (dropped) head.dropped[index] = 1;
    return 0;
  };

/** Digits only, and once: servers interpret lists, signs and other bases differently. */
const readContentLength: FieldReader = (buffer, head, index) => {
  const start = head.offsets[index * 4 + 2]!;
  const end = head.offsets[index * 4 + 3]!;
  // 15 digits are below 2^53.
  if (head.contentLength !== -1 || end === start || end - start > 15) return 400;
  let length = 0;
  for (let i = start; i < end; i++) {
    const digit = buffer[i]! - 48;
    if (digit < 0 || digit > 9) return 400;
    length = length * 10 + digit;
  }
  head.contentLength = length;
  head.dropped[index] = 1;
  return 0;
};

/** Exactly one "chunked": servers interpret other codings and spellings differently. */
const readTransferEncoding: FieldReader = (buffer, head, index) => {
  const start = head.offsets[index * 4 + 2]!;
  if (head.chunked || head.offsets[index * 4 + 3]! - start !== 7 || !spells(buffer, start, "chunked")) return 400;
  head.chunked = true;
  head.dropped[index] = 1;
  return 0;
};

/** RFC 9110 §10.1.1: an expectation that cannot be met is refused. */
const readExpect: FieldReader = (buffer, head, index) => {
  const start = head.offsets[index * 4 + 2]!;
  if (head.offsets[index * 4 + 3]! - start !== 12 || !spells(buffer, start, "100-continue")) return 417;
  head.expectContinue = true;
  return 0;
};

/** Framing is generated again from the parsed values; the other fields concern one connection only (RFC 9110 §7.6.1). */
const FRAMING_AND_HOP_BY_HOP: readonly Row[] = [
  ["content-length", readContentLength],
  ["transfer-encoding", readTransferEncoding],
  ["connection", readConnection],
  ["upgrade", note((head, index) => void (head.upgradeIndex = index), true)],
  ["keep-alive", note((head, index) => void (head.keepAliveIndex = index), true)],
  ["proxy-connection", drop],
];

const readCookie: FieldReader = (buffer, head, index) => {
  maskSessionCookie(buffer, head.offsets[index * 4 + 2]!, head.offsets[index * 4 + 3]!);
  return 0;
};

/** Other members request transfer codings; the only supported one, chunked, needs no request (RFC 9110 §10.1.4). */
const readTe: FieldReader = (buffer, head, index) => {
  head.dropped[index] = 1;
  head.takesTrailers ||= head
    .value(buffer, index)
    .split(",")
    .some((member) => member.trim().toLowerCase() === "trailers");
  return 0;
};

export const REQUEST_FIELDS = knownFields([
  ...FRAMING_AND_HOP_BY_HOP,
  ["te", readTe],
  ["host", noteHost],
  ["expect", readExpect],
  // Of several, which only faulty senders have, the first counts, as in rules that edit fields.
  ["user-agent", note((head, index) => void (head.userAgentIndex < 0 && (head.userAgentIndex = index)), false)],
  ["accept", note((head, index) => void (head.acceptIndex = index), false)],
  ["accept-encoding", note((head) => void (head.hasCodings = true), false)],
  ["cookie", readCookie],
  ["cdn-loop", note((head, index) => void (head.loopIndex = index), true)],
  // Proxy credentials must not reach the origin; `Proxy` becomes HTTP_PROXY in CGI programs.
  ["proxy-authorization", drop],
  ["proxy", drop],
]);

/** Browsers share cookies between the ports of a host, so an origin could replace the session of the dashboard beside it. */
const readSetCookie: FieldReader = (buffer, head, index) => {
  if (setsSessionCookie(head.value(buffer, index))) head.dropped[index] = 1;
  return 0;
};

export const RESPONSE_FIELDS = knownFields([
  ...FRAMING_AND_HOP_BY_HOP,
  ["te", drop],
  ["set-cookie", readSetCookie],
  ["content-type", note((head, index) => void (head.contentTypeIndex = index), false)],
  ["date", note((head, index) => void (head.dateIndex = index), false)],
  ["proxy-authenticate", drop],
]);

const refuse: FieldReader = () => 400;

/** Fields that affect framing, routing or interpretation of a message are not allowed in trailers (RFC 9110 §6.5.1). */
export const REFUSED_TRAILERS: readonly string[] = [
  "content-length",
  "transfer-encoding",
  "connection",
  "upgrade",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "host",
  "expect",
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "content-type",
  "content-encoding",
  "content-range",
  "cache-control",
  "max-forwards",
  "range",
];

export const TRAILER_FIELDS = knownFields(REFUSED_TRAILERS.map((name): Row => [name, refuse]));

export function knownFields(rows: readonly Row[]): KnownFields {
  const byLength: Row[][] = [];
  for (const row of rows) (byLength[row[0].length] ??= []).push(row);
  // Filled without holes, so that a lookup never leaves the array.
  for (let length = 0; length < byLength.length; length++) byLength[length] ??= [];
  return {
    read: (buffer, head, index) => {
      const start = head.offsets[index * 4]!;
      const length = head.offsets[index * 4 + 1]! - start;
      if (length >= byLength.length) return 0;
      for (const [name, read] of byLength[length]!) if (spells(buffer, start, name)) return read(buffer, head, index);
      return 0;
    },
  };
}
