import { charge } from "#rules/budget.ts";
import { rememberLast, rememberTexts } from "./memo.ts";
import { indexOfPart } from "./text-search.ts";

/** How long a string that a function makes may be; a longer one is a missing value. */
export const MADE_BYTES_MAX = 1 << 20;

// Only ASCII letters have cases: strings are bytes, and other bytes are parts of UTF-8.
export const lowerBytes = (text: string): string => (BEYOND_ASCII.test(text) ? flipped(text, 0x41) : text.toLowerCase());
export const upperBytes = (text: string): string => (BEYOND_ASCII.test(text) ? flipped(text, 0x61) : text.toUpperCase());

/** With the 26 letters from that byte on in their other case. */
function flipped(text: string, first: number): string {
  const bytes = Buffer.from(text, "latin1");
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte >= first && byte < first + 26) bytes[i] = byte ^ 0x20;
  }
  return bytes.toString("latin1");
}

/** Steps per byte of changing the case of a text. */
export const CASE_STEPS = 9;

/** The same, cheap for a text that many rules use in a row. */
export const rememberedLower = rememberTexts(lowerBytes, CASE_STEPS);

const BEYOND_ASCII = /[\u0080-\u00ff]/;

/** Bytes `from` to before `to`; negative places count from the end, and places outside are its ends. */
export function substring(text: string, from: number, to?: number): string {
  const cut = text.slice(from, to);
  charge(cut.length * READ_STEPS);
  return cut;
}

/** Steps per byte of comparing or looking up a made text. */
const READ_STEPS = 2;

export function startsWith(text: string, part: string): boolean {
  charge(part.length);
  return text.startsWith(part);
}

export function endsWith(text: string, part: string): boolean {
  charge(part.length);
  return text.endsWith(part);
}

/** At most `limit` parts; the last one has the rest. */
export function split(text: string, separator: string, limit: number): readonly string[] {
  const pieces: string[] = [];
  let at = 0;
  while (pieces.length < limit - 1) {
    const found = indexOfPart(text, separator, at);
    if (found === -1) break;
    pieces.push(text.slice(at, found));
    at = found + separator.length;
  }
  pieces.push(text.slice(at));
  return pieces;
}

/** Steps of removing bytes from a text of any length. */
const REMOVAL_STEPS = 1500;

const marksOf = rememberLast((bytes: string): Uint8Array => {
  const marks = new Uint8Array(256);
  for (const byte of Buffer.from(bytes, "latin1")) marks[byte] = 1;
  return marks;
});

export function removeBytes(text: string, bytes: string): string {
  charge(REMOVAL_STEPS);
  const removed = marksOf(bytes);
  const kept = Buffer.from(text, "latin1");
  let length = 0;
  for (let i = 0; i < kept.length; i++) if (removed[kept[i]!] === 0) kept[length++] = kept[i]!;
  return kept.toString("latin1", 0, length);
}
