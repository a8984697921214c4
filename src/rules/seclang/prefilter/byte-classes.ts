import type { ByteSet } from "#rules/regex/byte-set.ts";

/**
 * Every byte is in one of 63 classes, each a bit of two numbers: punctuation by itself, letters without regard to case, digits, space,
 * other white space, other control bytes, and bytes beyond ASCII.
 */
export interface ByteMask {
  readonly low: number;
  readonly high: number;
}

const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

export const LOW_BITS = new Int32Array(256);
export const HIGH_BITS = new Int32Array(256);

for (let byte = 0; byte < 256; byte++) {
  const mark = PUNCTUATION.indexOf(String.fromCharCode(byte));
  if (mark !== -1) LOW_BITS[byte] = 1 << mark;
  else HIGH_BITS[byte] = 1 << highBit(byte);
}

function highBit(byte: number): number {
  const lower = byte | 0x20;
  if (byte < 0x80 && lower >= 0x61 && lower <= 0x7a) return lower - 0x61;
  if (byte >= 0x30 && byte <= 0x39) return 26;
  if (byte === 0x20) return 27;
  if (byte >= 0x09 && byte <= 0x0d) return 28;
  return byte < 0x80 ? 29 : 30;
}

export function maskOfBytes(bytes: ByteSet): ByteMask {
  const bits = bytes.toString(2).padStart(256, "0");
  let low = 0;
  let high = 0;
  for (let byte = 0; byte < 256; byte++) {
    if (bits[255 - byte] === "0") continue;
    low |= LOW_BITS[byte]!;
    high |= HIGH_BITS[byte]!;
  }
  return { low, high };
}

export function maskOfText(text: string): ByteMask {
  let low = 0;
  let high = 0;
  for (let i = 0; i < text.length; i++) {
    low |= LOW_BITS[text.charCodeAt(i) & 0xff]!;
    high |= HIGH_BITS[text.charCodeAt(i) & 0xff]!;
  }
  return { low, high };
}

export const meets = (mask: ByteMask, low: number, high: number): boolean => ((mask.low & low) | (mask.high & high)) !== 0;

/** How many classes a mask has. */
export const weightOf = ({ low, high }: ByteMask): number => bitsOf(low) + bitsOf(high);

function bitsOf(number: number): number {
  let bits = 0;
  for (let rest = number; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
