import { encodeHuffman, huffmanLength } from "./huffman.ts";
import { ENTRY_BYTES, STATIC_TABLE, TABLE_BYTES_MAX } from "./static-table.ts";

/** A field, encoded in each way that a block may use. */
export interface CodedField {
  /** The name in lower case and then the value. */
  readonly text: Uint8Array;
  readonly nameLength: number;
  /** Size of the entry in a table (RFC 7541 §4.1). */
  readonly bytes: number;
  /** Index in the static table if that has the whole field, otherwise 0. */
  readonly staticIndex: number;
  /** Without a place in the table (RFC 7541 §6.2.2, or §6.2.3 for fields that must stay out of every table). */
  readonly plain: Uint8Array;
  /** With a place in the table (§6.2.1); null for fields that must not get one. */
  readonly indexed: Uint8Array | null;
  /** Number of uses, up to a bound. */
  sightings: number;
}

/**
 * Recently written fields of all connections of a thread, so that repeated fields are encoded once. A field may stand in
 * either of two places; a rare field does not evict a frequent one.
 */
export interface FieldCache {
  /** The field with the name `buffer[nameStart, nameEnd)`, in any case, and this value. */
  field(buffer: Uint8Array, nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): CodedField;
}

const PLACES = 4096;
/** Longer fields are not kept: any origin could fill the memory with them. */
const TEXT_BYTES_MAX = 1024;
const SIGHTINGS_MAX = 16;

/** Prefixes of RFC 7541 §6.2: the bits that name the form, and the largest index that fits beside them. */
const INDEXED = { pattern: 0x40, prefix: 0x3f };
const PLAIN = { pattern: 0x00, prefix: 0x0f };
const NEVER = { pattern: 0x10, prefix: 0x0f };

/**
 * Credentials. In a table they could be guessed from how well guesses compress (RFC 7541 §7.1.3). Proxies that pass the
 * field on must keep it out of their tables as well.
 */
const SECRET_NAMES = new Set(["set-cookie", "authorization", "proxy-authorization", "authentication-info", "www-authenticate"]);

/** A to Z in lower case, everything else as it is. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));

const staticNames = new Map<string, number>();
const staticFields = new Map<string, number>();
STATIC_TABLE.forEach(([name, value], i) => {
  if (!staticNames.has(name)) staticNames.set(name, i + 1);
  staticFields.set(`${name}\n${value}`, i + 1);
});

export function createFieldCache(): FieldCache {
  const places: (CodedField | null)[] = Array.from({ length: PLACES }, () => null);
  return {
    field: (buffer, nameStart, nameEnd, valueStart, valueEnd) => {
      const place = placeOf(buffer, nameStart, nameEnd, valueStart, valueEnd);
      const other = place ^ 1;
      const [one, two] = [places[place]!, places[other]!];
      if (one !== null && isSame(one, buffer, nameStart, nameEnd, valueStart, valueEnd)) return seen(one);
      if (two !== null && isSame(two, buffer, nameStart, nameEnd, valueStart, valueEnd)) return seen(two);
      const made = codeField(textOf(buffer, nameStart, nameEnd, valueStart, valueEnd), nameEnd - nameStart);
      if (made.text.length > TEXT_BYTES_MAX) return made;
      const yields = one === null || (two !== null && one.sightings <= two.sightings) ? place : other;
      // A field that stays loses one use, so it must be used again to stay the next time.
      const stays = places[yields ^ 1]!;
      if (stays !== null) stays.sightings = Math.max(1, stays.sightings - 1);
      places[yields] = made;
      return made;
    },
  };
}

function seen(field: CodedField): CodedField {
  if (field.sightings < SIGHTINGS_MAX) field.sightings++;
  return field;
}

/** Hash of a few bytes that usually differ between fields: both lengths, and the ends of name and value. */
function placeOf(buffer: Uint8Array, nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): number {
  let hash = (nameEnd - nameStart) * 31 + (valueEnd - valueStart);
  hash = hash * 31 + LOWER[buffer[nameStart]!]!;
  hash = hash * 31 + LOWER[buffer[nameEnd - 1]!]!;
  for (let i = Math.max(valueStart, valueEnd - 8); i < valueEnd; i++) hash = Math.imul(hash, 31) + buffer[i]!;
  for (let i = valueStart, end = Math.min(valueEnd, valueStart + 4); i < end; i++) hash = Math.imul(hash, 31) + buffer[i]!;
  return (hash ^ (hash >>> 12)) & (PLACES - 1);
}

function isSame(kept: CodedField, buffer: Uint8Array, nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): boolean {
  const { text, nameLength } = kept;
  if (nameEnd - nameStart !== nameLength || valueEnd - valueStart !== text.length - nameLength) return false;
  for (let i = 0; i < nameLength; i++) if (LOWER[buffer[nameStart + i]!]! !== text[i]!) return false;
  for (let i = nameLength, at = valueStart; i < text.length; i++, at++) if (buffer[at]! !== text[i]!) return false;
  return true;
}

function textOf(buffer: Uint8Array, nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): Uint8Array {
  const nameLength = nameEnd - nameStart;
  const text = new Uint8Array(nameLength + valueEnd - valueStart);
  for (let i = 0; i < nameLength; i++) text[i] = LOWER[buffer[nameStart + i]!]!;
  text.set(buffer.subarray(valueStart, valueEnd), nameLength);
  return text;
}

function codeField(text: Uint8Array, nameLength: number): CodedField {
  const characters = Buffer.from(text).toString("latin1");
  const name = characters.slice(0, nameLength);
  const nameIndex = staticNames.get(name) ?? 0;
  const bytes = text.length + ENTRY_BYTES;
  const isSecret = SECRET_NAMES.has(name);
  const mayIndex = !isSecret && bytes <= TABLE_BYTES_MAX;
  return {
    text,
    nameLength,
    bytes,
    staticIndex: staticFields.get(`${name}\n${characters.slice(nameLength)}`) ?? 0,
    plain: literal(text, nameLength, nameIndex, isSecret ? NEVER : PLAIN),
    indexed: mayIndex ? literal(text, nameLength, nameIndex, INDEXED) : null,
    sightings: 1,
  };
}

/** Room for the two lengths and the index, each at its longest. */
const INTEGERS_BYTES_MAX = 15;

function literal(text: Uint8Array, nameLength: number, nameIndex: number, { pattern, prefix }: typeof PLAIN): Uint8Array {
  const out = new Uint8Array(text.length + INTEGERS_BYTES_MAX);
  let at = writeInteger(out, 0, pattern, prefix, nameIndex);
  if (nameIndex === 0) at = writeText(text, 0, nameLength, out, at);
  at = writeText(text, nameLength, text.length, out, at);
  return out.slice(0, at);
}

/** Writes a string (RFC 7541 §5.2), Huffman-coded if that is shorter. Returns the offset just past it. */
export function writeText(text: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  const coded = huffmanLength(text, start, end);
  if (coded < end - start) return encodeHuffman(text, start, end, out, writeInteger(out, at, 0x80, 0x7f, coded));
  const from = writeInteger(out, at, 0, 0x7f, end - start);
  for (let i = start; i < end; i++) out[from + i - start] = text[i]!;
  return from + end - start;
}

/** Writes an integer (RFC 7541 §5.1). Returns the offset just past it. */
export function writeInteger(out: Uint8Array, at: number, pattern: number, prefix: number, value: number): number {
  if (value < prefix) {
    out[at] = pattern | value;
    return at + 1;
  }
  out[at++] = pattern | prefix;
  let rest = value - prefix;
  for (; rest >= 128; rest >>>= 7) out[at++] = 128 | (rest & 127);
  out[at++] = rest;
  return at;
}
