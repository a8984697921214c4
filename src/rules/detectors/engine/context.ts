import { bare } from "./named-index.ts";

/** Bytes before a match that are read as they stand. */
const NEAR_BYTES = 64;
/** Bytes before a match in which its label may stand where there is markup between the two. */
export const LABEL_BYTES = 320;

/**
 * What stands before `at`, to look for words in: its last bytes, and where markup stands there, what a reader sees before it, with
 * the tag that `at` may be in. Without accents.
 */
export function textBefore(bytes: Buffer, at: number): string {
  const from = Math.max(0, at - NEAR_BYTES);
  bytes.copy(gathered, 0, from, at);
  let length = at - from;
  // A value in quotes may be an attribute's, whose tag begins further left.
  if (isQuote(bytes[at - 1]) || hasMarkup(bytes, from, at)) length = gatherVisible(bytes, at, length);
  return withoutAccents(length);
}

/** The text that is being put together, in bytes. */
const gathered = Buffer.alloc(NEAR_BYTES * 2 + LABEL_BYTES + 2);
/** What a reader of the page sees, and then the tag that it ends in. */
const visible = Buffer.alloc(LABEL_BYTES);

/** Where a tag begins further left than is looked at, what stands of it is left out. */
function gatherVisible(bytes: Buffer, at: number, length: number): number {
  const from = Math.max(0, at - LABEL_BYTES);
  const first = markupFrom(bytes, from, at);
  const shown = showVisible(bytes, bytes[first] === GREATER && first < at ? first + 1 : from, at);
  // Without markup it is what stands near, and some more where spaces stand together.
  if (first === at) return visible.copy(gathered, 0, Math.max(0, shown - NEAR_BYTES), shown);
  const open = visible.subarray(0, shown).lastIndexOf(LESS);
  const textEnd = open < 0 ? shown : open;
  let end = length;
  gathered[end++] = LINE_FEED;
  end += visible.copy(gathered, end, Math.max(0, textEnd - NEAR_BYTES), textEnd);
  gathered[end++] = LINE_FEED;
  return end + visible.copy(gathered, end, textEnd, shown);
}

/** Puts one space for tags and spaces that stand together. Gives the length. */
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

/** Where the first `<` or `>` stands; `to` where there is none. */
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
/** Of bytes as characters. */
const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) => (/\s/.test(String.fromCharCode(byte)) ? 1 : 0));

/** The gathered bytes, which are a text in UTF-8 where any is beyond ASCII. */
function withoutAccents(length: number): string {
  for (let i = 0; i < length; i++) if ((gathered[i] as number) >= 0x80) return bare(gathered.toString("utf8", 0, length));
  return gathered.toString("latin1", 0, length);
}
