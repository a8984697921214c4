/** Lengths in bits of the codes of all bytes, and of the end of the string (RFC 7541 Appendix B); 16 in a row. */
const CODE_LENGTHS: readonly number[] = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  ...[28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  ...[6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  ...[5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  ...[13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  ...[7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  ...[6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  ...[20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  ...[24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  ...[22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  ...[21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  ...[26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  ...[19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  ...[20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  ...[26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
  30,
];
const END_OF_STRING = 256;
const BITS_MAX = 30;

/** Codes of one length are consecutive numbers in the order of their symbols, so the lengths determine them. */
const CODES = new Uint32Array(257);
const LENGTHS = Uint8Array.from(CODE_LENGTHS);
/** By length: the first code, how many there are, and where their symbols begin in `SYMBOLS`. */
const FIRST = new Uint32Array(BITS_MAX + 1);
const COUNT = new Uint32Array(BITS_MAX + 1);
const OFFSET = new Uint32Array(BITS_MAX + 1);
const SYMBOLS = new Uint16Array(257);
/** Symbol and length of the code that the next bits begin with, if it is at most `SHORT_BITS` long; 0 for longer ones. */
const SHORT_BITS = 10;
const SHORT = new Uint16Array(1 << SHORT_BITS);

for (let length = 1, code = 0, place = 0; length <= BITS_MAX; length++, code <<= 1) {
  FIRST[length] = code;
  OFFSET[length] = place;
  for (let symbol = 0; symbol <= END_OF_STRING; symbol++) {
    if (CODE_LENGTHS[symbol] !== length) continue;
    if (length <= SHORT_BITS) SHORT.fill((symbol << 4) | length, code << (SHORT_BITS - length), (code + 1) << (SHORT_BITS - length));
    SYMBOLS[place++] = symbol;
    CODES[symbol] = code++;
  }
  COUNT[length] = place - OFFSET[length]!;
}

/** A text is at most this many times as long as its encoded form. */
export const HUFFMAN_GROWTH_MAX = 1.6;

/**
 * Decodes `source[start, end)` into `target` from `at` on, where the caller has made room. Returns the offset just past
 * the text, or -1 if the bytes are not a valid encoding (RFC 7541 §5.2).
 */
export function decodeHuffman(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let [next, out, bits, count] = [start, at, 0, 0];
  for (;;) {
    while (count < SHORT_BITS && next < end) {
      bits = (bits << 8) | source[next++]!;
      count += 8;
    }
    const missing = SHORT_BITS - count;
    // Bits after the end are ones, as in padding.
    const ahead = missing <= 0 ? bits >>> -missing : (bits << missing) | ((1 << missing) - 1);
    const short = SHORT[ahead & 0x3ff]!;
    const length = short & 0xf;
    if (length !== 0) {
      if (length > count) return -1;
      target[out++] = short >> 4;
      count -= length;
      continue;
    }
    // At most seven bits of padding, all ones.
    if (next === end && count < 8 && (bits & ((1 << count) - 1)) === (1 << count) - 1) return out;
    const from = next * 8 - count;
    const found = longCode(source, from, end * 8);
    if (found < 0) return -1;
    target[out++] = found >> 5;
    const to = from + (found & 0x1f);
    next = (to + 7) >> 3;
    count = next * 8 - to;
    bits = source[next - 1]!;
  }
}

/** The symbol whose code begins at this bit, times 32, plus the length of the code; -1 if none does. */
function longCode(source: Uint8Array, from: number, end: number): number {
  let code = 0;
  for (let length = 1; length <= BITS_MAX && from + length <= end; length++) {
    const bit = from + length - 1;
    code = (code << 1) | ((source[bit >> 3]! >> (7 - (bit & 7))) & 1);
    const place = code - FIRST[length]!;
    if (place >= COUNT[length]!) continue;
    const symbol = SYMBOLS[OFFSET[length]! + place]!;
    return symbol === END_OF_STRING ? -1 : (symbol << 5) | length;
  }
  return -1;
}

/** Encoded length of `source[start, end)`, in bytes. */
export function huffmanLength(source: Uint8Array, start: number, end: number): number {
  let bits = 0;
  for (let i = start; i < end; i++) bits += LENGTHS[source[i]!]!;
  return (bits + 7) >> 3;
}

/** Encodes `source[start, end)` into `target` from `at` on. Returns the offset just past it. */
export function encodeHuffman(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let [out, bits, count] = [at, 0, 0];
  for (let i = start; i < end; i++) {
    const symbol = source[i]!;
    let length = LENGTHS[symbol]!;
    const code = CODES[symbol]!;
    // Up to seven bits wait already, so a long code is added in two steps to stay within 32 bits.
    if (length > 16) {
      length -= 16;
      bits = (bits << length) | (code >>> 16);
      for (count += length; count >= 8; count -= 8) target[out++] = bits >>> (count - 8);
      length = 16;
    }
    bits = (bits << length) | (code & 0xffff);
    for (count += length; count >= 8; count -= 8) target[out++] = bits >>> (count - 8);
  }
  if (count > 0) target[out++] = (bits << (8 - count)) | (0xff >> count);
  return out;
}
