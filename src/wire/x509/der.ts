// The distinguished encoding of ASN.1 (X.690 §10), limited to the needs of certificates. Lengths below 64 KB.

const [BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, OBJECT_IDENTIFIER] = [0x01, 0x02, 0x03, 0x04, 0x06];
const [UTF8_STRING, UTC_TIME, GENERALIZED_TIME, SEQUENCE, SET] = [0x0c, 0x17, 0x18, 0x30, 0x31];
const CONTEXT = 0xa0;
const CONTEXT_PRIMITIVE = 0x80;

export const der = {
  sequence: (...parts: readonly Buffer[]): Buffer => element(SEQUENCE, Buffer.concat(parts)),
  set: (...parts: readonly Buffer[]): Buffer => element(SET, Buffer.concat(parts)),
  /** `[number] EXPLICIT`. */
  tagged: (number: number, part: Buffer): Buffer => element(CONTEXT | number, part),
  /** `[number] IMPLICIT` of a primitive value. */
  implicit: (number: number, bytes: Uint8Array): Buffer => element(CONTEXT_PRIMITIVE | number, bytes),
  true: (): Buffer => element(BOOLEAN, Buffer.of(0xff)),
  /** Not negative, most significant byte first. */
  integer: (bytes: Uint8Array): Buffer => element(INTEGER, unsigned(bytes)),
  /** `unused`: number of unused bits at the end of the last byte. */
  bits: (bytes: Uint8Array, unused = 0): Buffer => element(BIT_STRING, Buffer.concat([Buffer.of(unused), bytes])),
  octets: (bytes: Uint8Array): Buffer => element(OCTET_STRING, bytes),
  /** From the dotted form. */
  objectIdentifier: (text: string): Buffer => element(OBJECT_IDENTIFIER, identifierBytes(text)),
  text: (text: string): Buffer => element(UTF8_STRING, Buffer.from(text, "utf8")),
  time,
} as const;

/** The first elements inside an element, at most `countMax`, each with its header. Throws RangeError if one exceeds it. */
export function derParts(whole: Buffer, countMax: number): readonly Buffer[] {
  const { contentAt, end } = extent(whole, 0);
  const parts: Buffer[] = [];
  for (let at = contentAt; at < end && parts.length < countMax;) {
    const part = extent(whole, at);
    if (part.end > end) throw new RangeError("an element ends outside of the one it stands in");
    parts.push(whole.subarray(at, part.end));
    at = part.end;
  }
  return parts;
}

/** The extent of the element at `at`; its length may have up to two bytes. */
function extent(bytes: Buffer, at: number): { readonly contentAt: number; readonly end: number } {
  const first = bytes.readUInt8(at + 1);
  if (first === 0x80 || first > 0x82) throw new RangeError("an element of 64 KB or more, or without a length");
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const contentAt = at + 2 + lengthBytes;
  return { contentAt, end: contentAt + (lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)) };
}

function element(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  if (length > 0xffff) throw new RangeError(`${length} bytes are too many for one element`);
  const head = length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

/** Removes leading zeros, and adds one if the first bit would make the number negative. */
function unsigned(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const significant = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  return (significant[0] ?? 0) < 0x80 ? Buffer.from(significant) : Buffer.concat([Buffer.of(0), significant]);
}

function identifierBytes(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 0x80); left > 0; left = Math.floor(left / 0x80)) groups.unshift(0x80 | (left & 0x7f));
    return groups;
  });
  return Buffer.from(bytes);
}

/** Whole seconds; two digits for the year until 2049 (RFC 5280 §4.1.2.5). */
function time(date: Date): Buffer {
  const text = `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`;
  return date.getUTCFullYear() < 2050 ? element(UTC_TIME, Buffer.from(text.slice(2))) : element(GENERALIZED_TIME, Buffer.from(text));
}
