import { WireError } from "./errors.ts";
import { typesOf } from "./type-bitmap.ts";
import type { WireReader } from "./wire-reader.ts";

type Shape = (reader: WireReader) => void;

const invalid = (): WireError => new WireError("bad_rdata");

const name: Shape = (reader) => void reader.name();

const nonEmpty: Shape = (reader) => {
  if (reader.rest().length === 0) throw invalid();
};

const string: Shape = (reader) => void reader.take(reader.u8());

function strings(reader: WireReader): void {
  do string(reader);
  while (!reader.done);
}

/** RFC 2535 §3: flags, protocol and algorithm, then a key if the flags do not say that it has none. */
function key(reader: WireReader): void {
  const hasNone = (reader.u16() & 0xc000) === 0xc000;
  reader.take(2);
  if (hasNone) reader.rest();
  else nonEmpty(reader);
}

/** RFC 3123 §4: prefixes, each with as many bytes as it says. */
function addressPrefixes(reader: WireReader): void {
  while (!reader.done) {
    const family = reader.u16();
    const prefix = reader.u8();
    const length = reader.u8() & 0x7f;
    const bytesMax = family === 1 ? 4 : family === 2 ? 16 : 127;
    if (length > bytesMax || (family <= 2 && prefix > bytesMax * 8)) throw invalid();
    const bytes = reader.take(length);
    if (length > 0 && bytes[length - 1] === 0) throw invalid();
  }
}

/** The gateway of IPSECKEY (RFC 4025 §2.3) and the relay of AMTRELAY (RFC 8777 §4.2.3). */
function gateway(reader: WireReader, kind: number): void {
  if (kind > 3) throw invalid();
  if (kind === 3) reader.name();
  else reader.take([0, 4, 16][kind] as number);
}

/** RFC 8005 §5: identity tag and key, each with as many bytes as its length says, then servers. */
function hostIdentity(reader: WireReader): void {
  const tagLength = reader.u8();
  reader.u8();
  const keyLength = reader.u16();
  if (tagLength === 0 || keyLength === 0) throw invalid();
  reader.take(tagLength + keyLength);
  while (!reader.done) reader.name();
}

/** RFC 2874 §3.1: the rest of an address, and for a prefix the name that has it. */
function addressSuffix(reader: WireReader): void {
  const prefix = reader.u8();
  if (prefix > 128) throw invalid();
  reader.take(16 - Math.floor(prefix / 8));
  if (prefix > 0) reader.name();
}

/**
 * The structure of types that can only be written by number (RFC 3597 §5). Other name servers refuse a message, and so the
 * transfer of a whole zone, if RDATA of a type that they know does not have it.
 */
const SHAPES: ReadonlyMap<number, Shape> = new Map<number, Shape>([
  [11, (reader) => void [reader.take(5), reader.rest()]], // WKS
  [22, nonEmpty], // NSAP
  [23, name], // NSAP-PTR
  [25, key], // KEY
  [27, (reader) => void [string(reader), string(reader), string(reader)]], // GPOS
  [38, addressSuffix], // A6
  [40, (reader) => void [reader.take(3), reader.rest()]], // SINK
  [42, addressPrefixes], // APL
  [45, (reader) => void [reader.u8(), gateway(reader, reader.u16() >> 8), reader.rest()]], // IPSECKEY
  [55, hostIdentity], // HIP
  [56, strings], // NINFO
  [57, key], // RKEY
  [58, (reader) => void [reader.name(), reader.name()]], // TALINK
  [62, (reader) => void [reader.take(6), typesOf(reader.rest())]], // CSYNC
  [104, (reader) => void reader.take(10)], // NID
  [106, (reader) => void reader.take(10)], // L64
  [259, (reader) => void [reader.take(9), string(reader), reader.rest()]], // DOA
  [260, (reader) => void [reader.u8(), gateway(reader, reader.u8() & 0x7f)]], // AMTRELAY
]);

/** Throws WireError if the reader does not hold exactly the RDATA of the type. Types without a known structure hold anything. */
export function checkShape(code: number, reader: WireReader): void {
  const shape = SHAPES.get(code);
  if (shape === undefined) return;
  shape(reader);
  if (!reader.done) throw new WireError("trailing_bytes");
}
