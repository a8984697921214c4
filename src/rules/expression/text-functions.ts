import { rememberTexts } from "./memo.ts";

/** How long a string that a function makes may be; a longer one is a missing value. */
export const MADE_BYTES_MAX = 1 << 20;

// Only ASCII letters have cases: strings are bytes, and other bytes are parts of UTF-8.
export const lowerBytes = (text: string): string =>
  BEYOND_ASCII.test(text) ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text.toLowerCase();
export const upperBytes = (text: string): string =>
  BEYOND_ASCII.test(text) ? text.replace(/[a-z]+/g, (part) => part.toUpperCase()) : text.toUpperCase();

/** The same, cheap for texts that many rules ask about in a row. */
export const rememberedLower = rememberTexts(lowerBytes);

const BEYOND_ASCII = /[\u0080-\u00ff]/;

/** Bytes `from` to before `to`; negative places count from the end, and places outside are its ends. */
export const substring = (text: string, from: number, to?: number): string => text.slice(from, to);

/** At most `limit` pieces, the last of which has the rest. */
export function split(text: string, separator: string, limit: number): readonly string[] {
  const pieces: string[] = [];
  let at = 0;
  while (pieces.length < limit - 1) {
    const found = text.indexOf(separator, at);
    if (found === -1) break;
    pieces.push(text.slice(at, found));
    at = found + separator.length;
  }
  pieces.push(text.slice(at));
  return pieces;
}

export function removeBytes(text: string, bytes: string): string {
  const removed = new Set(bytes);
  let kept = "";
  for (const char of text) if (!removed.has(char)) kept += char;
  return kept;
}
