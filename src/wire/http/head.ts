import { FIELDS_MAX, type HeadFault, Head, REQUEST_FIELDS_MAX } from "./parsed-head.ts";
import { COLON, CR, FIELD_VALUE, latin1, LF, SPACE, TAB, TARGET, TOKEN } from "./bytes.ts";
import { type KnownFields, REQUEST_FIELDS, RESPONSE_FIELDS } from "./known-fields.ts";
import { dropListedFields } from "./hop-by-hop.ts";

/** Limit of a request head. */
export const HEAD_BYTES_MAX = 32_768;
/** Default limit of a response head; some applications send long policies and tokens. */
export const RESPONSE_HEAD_BYTES_MAX = 131_072;
const METHOD_BYTES_MAX = 32;
const TARGET_BYTES_MAX = 16_384;

/**
 * The offset after the empty line that ends the head, or -1 if it is incomplete. `from`: end of the bytes that an earlier
 * call searched; the empty line may begin up to three bytes before.
 */
export function findHeadEnd(buffer: Buffer, start: number, end: number, from: number): number {
  // Steps to possible last bytes of the four, mostly four bytes at a time: calling a native search costs more than
  // scanning most heads.
  let i = Math.max(start, from - 3) + 3;
  while (i < end) {
    const byte = buffer[i];
    if (byte === LF) {
      if (buffer[i - 1] === CR && buffer[i - 2] === LF && buffer[i - 3] === CR) return i + 1;
      i += 2;
    } else i += byte === CR ? 1 : 4;
  }
  return -1;
}

/** Whether the first line of a message, without CRLF, may be valid. It is parsed when the head is complete. */
export type StartLine = (buffer: Buffer, start: number, end: number) => boolean;

/** Must end with a version, which lines of HTTP/0.9 and most other protocols do not; their clients then wait for a response. */
export const isRequestLine: StartLine = (buffer, start, end) => end - start >= 9 && buffer[end - 9] === SPACE && isVersion(buffer, end - 8);

/** Must begin with a version. */
export const isStatusLine: StartLine = (buffer, start, end) => end - start >= 12 && isVersion(buffer, start);

/**
 * Whether an incomplete head can already be refused: a line that does not end with CRLF or an invalid first line cannot
 * become valid, and the sender would otherwise wait for the timeout. `from` as above.
 */
export function isHopelessStart(buffer: Buffer, start: number, end: number, from: number, isStartLine: StartLine): boolean {
  if (start < end && TOKEN[buffer[start]!] === 0 && buffer[start] !== CR) return true;
  for (let at = buffer.indexOf(LF, Math.max(start, from)); at >= 0 && at < end; at = buffer.indexOf(LF, at + 1)) {
    if (at === start || buffer[at - 1] !== CR) return true;
    if (buffer.indexOf(LF, start) === at && !isStartLine(buffer, start, at - 1)) return true;
  }
  return false;
}

/** Whether the byte can begin a method, or an empty line before it (RFC 9112 §2.2). */
export const canBeginRequest = (byte: number | undefined): boolean => byte !== undefined && (TOKEN[byte] === 1 || byte === CR);

/** The status for a request head that exceeds all limits, by the part that is too long. */
export function longHeadFault(buffer: Buffer, start: number, end: number): HeadFault {
  const line = buffer.subarray(start, Math.min(end, start + TARGET_BYTES_MAX + METHOD_BYTES_MAX));
  if (line.includes(LF)) return 431;
  return line.subarray(0, METHOD_BYTES_MAX + 1).includes(SPACE) ? 414 : 501;
}

/** Parses a request head that ends at `end` (from `findHeadEnd`), strictly by RFC 9112 §3. */
export function parseRequestHead(buffer: Buffer, start: number, end: number, head: Head): HeadFault {
  head.reset();
  let i = start;
  while (TOKEN[buffer[i]!] === 1) i++;
  if (i === start || buffer[i] !== SPACE) return 400;
  if (i - start > METHOD_BYTES_MAX) return 501;
  head.method = methodOf(buffer, start, i);
  head.targetStart = ++i;
  while (TARGET[buffer[i]!] === 1) i++;
  let escapes = 0;
  for (; buffer[i]! >= 0x80 || (escapes > 0 && TARGET[buffer[i]!] === 1); i++) if (buffer[i]! >= 0x80) escapes++;
  if (i === head.targetStart || buffer[i] !== SPACE) return 400;
  // Each becomes an escape of three characters.
  if (i - head.targetStart + 2 * escapes > TARGET_BYTES_MAX) return 414;
  head.hasOctets = escapes > 0;
  head.targetEnd = i;
  const fault = parseVersion(buffer, i + 1, head);
  if (fault !== 0) return fault;
  i += 9;
  if (buffer[i] !== CR || buffer[i + 1] !== LF) return 400;
  return parseFields(buffer, i + 2, end, head, REQUEST_FIELDS);
}

/** Copies an accepted request head with its bytes, so that both stay valid. */
export function keepRequestHead(buffer: Buffer, head: Head): { readonly buffer: Buffer; readonly head: Head } {
  const bytes = Buffer.from(buffer.subarray(head.targetStart - head.method.length - 1, head.end));
  const kept = new Head();
  parseRequestHead(bytes, 0, bytes.length, kept);
  return { buffer: bytes, head: kept };
}

/** Parses a response head that ends at `end`. A missing reason phrase is common and accepted. */
export function parseResponseHead(buffer: Buffer, start: number, end: number, head: Head, fieldsMax = FIELDS_MAX): HeadFault {
  head.reset();
  const fault = parseVersion(buffer, start, head);
  if (fault !== 0) return fault;
  if (buffer[start + 8] !== SPACE) return 400;
  let status = 0;
  for (let i = start + 9; i < start + 12; i++) {
    const digit = buffer[i]! - 48;
    if (digit < 0 || digit > 9) return 400;
    status = status * 10 + digit;
  }
  if (status < 100) return 400;
  head.status = status;
  let i = start + 12;
  if (buffer[i] === SPACE) i++;
  else if (buffer[i] !== CR) return 400;
  head.reasonStart = i;
  while (FIELD_VALUE[buffer[i]!] === 1) i++;
  head.reasonEnd = i;
  if (buffer[i] !== CR || buffer[i + 1] !== LF) return 400;
  return parseFields(buffer, i + 2, end, head, RESPONSE_FIELDS, fieldsMax);
}

function isVersion(buffer: Buffer, i: number): boolean {
  if (buffer[i] !== 0x48 || buffer[i + 1] !== 0x54 || buffer[i + 2] !== 0x54 || buffer[i + 3] !== 0x50 || buffer[i + 4] !== 0x2f)
    return false;
  const major = buffer[i + 5]! - 48;
  const minor = buffer[i + 7]! - 48;
  return major >= 0 && major <= 9 && buffer[i + 6] === 0x2e && minor >= 0 && minor <= 9;
}

/** Avoids a new string for the most frequent method. */
function methodOf(buffer: Buffer, start: number, end: number): string {
  const isGet = end - start === 3 && buffer[start] === 0x47 && buffer[start + 1] === 0x45 && buffer[start + 2] === 0x54;
  return isGet ? "GET" : latin1(buffer, start, end);
}

function parseVersion(buffer: Buffer, i: number, head: Head): HeadFault {
  if (!isVersion(buffer, i)) return 400;
  const minor = buffer[i + 7]! - 48;
  if (buffer[i + 5] !== 0x31 || minor > 1) return 505;
  head.minorVersion = minor;
  return 0;
}

/** Parses field lines up to the empty line: CRLF only, no folding, no space before the colon (RFC 9112 §5). */
export function parseFields(
  buffer: Buffer,
  start: number,
  end: number,
  head: Head,
  known: KnownFields,
  fieldsMax = REQUEST_FIELDS_MAX,
): HeadFault {
  const { offsets, dropped } = head;
  const stop = end - 2;
  head.fieldsStart = start;
  head.end = end;
  let i = start;
  while (i < stop) {
    const index = head.fieldCount;
    if (index === fieldsMax) return 431;
    const nameStart = i;
    while (TOKEN[buffer[i]!] === 1) i++;
    const nameEnd = i;
    if (nameEnd === nameStart || buffer[i] !== COLON) return 400;
    i++;
    while (buffer[i] === SPACE || buffer[i] === TAB) i++;
    const valueStart = i;
    while (FIELD_VALUE[buffer[i]!] === 1) i++;
    if (buffer[i] !== CR || buffer[i + 1] !== LF) return 400;
    let valueEnd = i;
    while (valueEnd > valueStart && (buffer[valueEnd - 1] === SPACE || buffer[valueEnd - 1] === TAB)) valueEnd--;
    i += 2;
    const at = index * 4;
    offsets[at] = nameStart;
    offsets[at + 1] = nameEnd;
    offsets[at + 2] = valueStart;
    offsets[at + 3] = valueEnd;
    dropped[index] = 0;
    head.fieldCount = index + 1;
    const fault = known.read(buffer, head, index);
    if (fault !== 0) return fault;
  }
  // RFC 9112 §6.1 and SPEC 9 (2023-07-01): messages with both are used for request smuggling.
  if (head.chunked && (head.contentLength !== -1 || head.minorVersion === 0)) return 400;
  return head.connectionLists ? dropListedFields(buffer, head) : 0;
}
