/** Symbols of a text that are looked at. */
const SYMBOLS_MAX = 16;
const END_OF_BLOCK = 256;
/** The least distance of each code (RFC 1951 §3.2.5); a text this short has no longer ones. */
const DISTANCES = [1, 2, 3, 4, 5, 7, 9, 13];
/** All codes of a complete set together, of which one of seven bits has one. */
const COMPLETE = 128;

/**
 * Whether bytes may be a packed text, in deflate without a head (RFC 1951): whether their first block begins as one. It allows each beginning
 * that zlib accepts and whose first symbols are printable, and few others, so that identifiers are not unpacked.
 */
export function beginsDeflate(bytes: Uint8Array): boolean {
  const kind = (bits(bytes, 0, 3) >> 1) & 3;
  if (kind === 0) return ((bytes[1] ?? 0) ^ (bytes[3] ?? 0)) === 0xff && ((bytes[2] ?? 0) ^ (bytes[4] ?? 0)) === 0xff;
  if (kind === 1) return beginsAsText(bytes);
  return kind === 2 && hasCodes(bytes);
}

/** Bits from the lowest of the first byte on, as a number; zero behind the end. */
function bits(bytes: Uint8Array, from: number, count: number): number {
  const at = from >> 3;
  const three = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
  return (three >> (from & 7)) & ((1 << count) - 1);
}

/** Codes of Huffman begin with their highest bit. */
function codeAt(bytes: Uint8Array, from: number, count: number): number {
  let code = 0;
  for (let i = 0; i < count; i++) code = (code << 1) | bits(bytes, from + i, 1);
  return code;
}

function beginsAsText(bytes: Uint8Array): boolean {
  for (let at = 3, length = 0; length < SYMBOLS_MAX; length++) {
    if (at >= bytes.length * 8) return false;
    const [symbol, count] = fixedSymbol(codeAt(bytes, at, 9));
    at += count;
    if (symbol === END_OF_BLOCK) return true;
    if (symbol > END_OF_BLOCK) return symbol < 286 && length > 0 && (DISTANCES[distanceCode(bytes, at, symbol)] ?? Infinity) <= length;
    if (!isPrintable(symbol)) return false;
  }
  return true;
}

/** The symbol whose code begins these nine bits, and its length. */
function fixedSymbol(code: number): readonly [symbol: number, bits: number] {
  if (code < 0x60) return [END_OF_BLOCK + (code >> 2), 7];
  if (code < 0x180) return [(code >> 1) - 0x30, 8];
  if (code < 0x190) return [280 + (code >> 1) - 0xc0, 8];
  return [code - 0x190 + 144, 9];
}

/** Behind the further bits of a length. */
function distanceCode(bytes: Uint8Array, at: number, symbol: number): number {
  const more = symbol < 265 || symbol === 285 ? 0 : (symbol - 261) >> 2;
  return codeAt(bytes, at + more, 5);
}

const isPrintable = (byte: number): boolean => (byte >= 0x20 && byte !== 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** Whether a block has its own codes, whose lengths are a complete code. */
function hasCodes(bytes: Uint8Array): boolean {
  if (bits(bytes, 3, 5) > 29 || bits(bytes, 8, 5) > 29) return false;
  const lengths = bits(bytes, 13, 4) + 4;
  let sum = 0;
  for (let i = 0; i < lengths; i++) {
    const length = bits(bytes, 17 + i * 3, 3);
    if (length > 0) sum += COMPLETE >> length;
  }
  return sum === COMPLETE;
}
