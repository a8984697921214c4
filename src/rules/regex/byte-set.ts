/** A set of bytes: bit n represents byte n. */
export type ByteSet = bigint;

export const ALL_BYTES: ByteSet = (1n << 256n) - 1n;
export const oneByte = (byte: number): ByteSet => 1n << BigInt(byte);
export const byteRange = (first: number, last: number): ByteSet => ((1n << BigInt(last - first + 1)) - 1n) << BigInt(first);
export const without = (bytes: ByteSet): ByteSet => ALL_BYTES & ~bytes;

const DIGITS = byteRange(0x30, 0x39);
const UPPER = byteRange(0x41, 0x5a);
const LOWER = byteRange(0x61, 0x7a);
const SPACES = byteRange(0x09, 0x0d) | oneByte(0x20);
const WORDS = DIGITS | UPPER | LOWER | oneByte(0x5f);
export const NEWLINE = oneByte(0x0a);

export const CLASSES: Readonly<Record<string, ByteSet>> = { d: DIGITS, s: SPACES, w: WORDS };

// UTS #18 Annex C, as far as Rust has them.
export const NAMED: Readonly<Record<string, ByteSet>> = {
  alnum: DIGITS | UPPER | LOWER,
  alpha: UPPER | LOWER,
  ascii: byteRange(0, 0x7f),
  blank: oneByte(0x09) | oneByte(0x20),
  cntrl: byteRange(0, 0x1f) | oneByte(0x7f),
  digit: DIGITS,
  graph: byteRange(0x21, 0x7e),
  lower: LOWER,
  print: byteRange(0x20, 0x7e),
  punct: byteRange(0x21, 0x2f) | byteRange(0x3a, 0x40) | byteRange(0x5b, 0x60) | byteRange(0x7b, 0x7e),
  space: SPACES,
  upper: UPPER,
  word: WORDS,
  xdigit: DIGITS | byteRange(0x41, 0x46) | byteRange(0x61, 0x66),
};

/** Both cases of the ASCII letters in the set. */
export const folded = (bytes: ByteSet): ByteSet => bytes | ((bytes & UPPER) << 32n) | ((bytes & LOWER) >> 32n);
