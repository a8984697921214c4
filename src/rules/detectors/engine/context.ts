import { bare } from "./named-index.ts";

/** Bytes before a match that are read unchanged. */
const NEAR_BYTES = 64;
/** Bytes before a match in which its label may be if markup separates them. */
export const LABEL_BYTES = 320;

/**
 * The text before `at`, in which words are searched: its last bytes and, if it has markup, the visible text before it
 * with the tag that `at` may be in. Without accents.
 */
export function textBefore(bytes: Buffer, at: number): string {
  const from = Math.max(0, at - NEAR_BYTES);
  bytes.copy(gathered, 0, from, at);
  let length = at - from;
  // A quoted value may be an attribute's, whose tag begins further left.
  if (isQuote(bytes[at - 1]) || hasMarkup(bytes, from, at)) length = gatherVisible(bytes, at, length);
  return withoutAccents(length);
}

/** Bytes of the text under construction. */
const gathered = Buffer.alloc(NEAR_BYTES * 2 + LABEL_BYTES + 2);
/** The visible text of the page, and then the tag in which it ends. */
const visible = Buffer.alloc(LABEL_BYTES);

/**
 * Builds the visible text before `at`. If a tag begins further left than the searched bytes, the visible part of that tag
 * is left out.
 */
function gatherVisible(bytes: Buffer, at: number, length: number): number {
  const from = Math.max(0, at - LABEL_BYTES);
  const first = markupFrom(bytes, from, at);
  const shown = showVisible(bytes, bytes[first] === GREATER && first < at ? first + 1 : from, at);
  // Without markup, this is the text nearby, and a little more if it has runs of spaces.
  if (first === at) return visible.copy(gathered, 0, Math.max(0, shown - NEAR_BYTES), shown);
  const open = visible.subarray(0, shown).lastIndexOf(LESS);
  const textEnd = open < 0 ? shown : open;
  let end = length;
  gathered[end++] = LINE_FEED;
  end += visible.copy(gathered, end, Math.max(0, textEnd - NEAR_BYTES), textEnd);
  gathered[end++] = LINE_FEED;
  return end + visible.copy(gathered, end, textEnd, shown);
}

/** Replaces tags and runs of spaces by one space. Returns the length. */
function showVisible(bytes: Buffer, from: number, to: number): number {
  let length = 0;
  let isGap = false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i] as number;
    const tagEnd = byte === LESS ? markupFrom(bytes, i + 1, to) : to;
    const isTag = tagEnd < to && bytes[tagEnd] === GREATER;
    if (isTag) i = tagEnd;
    else if (IS_SPACE[byte] === 0) {
      visible[length++] = byte;
      isGap = false;
      continue;
    }
    if (!isGap) visible[length++] = SPACE;
    isGap = true;
  }
  return length;
}

const hasMarkup = (bytes: Buffer, from: number, to: number): boolean => markupFrom(bytes, from, to) < to;

/** Index of the first `<` or `>`, or `to`. */
function markupFrom(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== LESS && bytes[at] !== GREATER) at++;
  return at;
}

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const LESS = 0x3c;
const GREATER = 0x3e;
const isQuote = (byte: number | undefined): boolean => byte === 0x22 || byte === 0x27;
/** By byte, as a Latin-1 character. */
const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) => (/\s/.test(String.fromCharCode(byte)) ? 1 : 0));

/** The gathered bytes without accents; they are UTF-8 if any is beyond ASCII. */
function withoutAccents(length: number): string {
  for (let i = 0; i < length; i++) if ((gathered[i] as number) >= 0x80) return bare(gathered.toString("utf8", 0, length));
  return gathered.toString("latin1", 0, length);
}
