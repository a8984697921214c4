/**
 * Gaps between the groups of a number in pages and forms: several spaces, tabs and line ends, also as JSON escapes, and
 * inline elements. A single space is not a gap but an ordinary separator.
 */
const INLINE = "b bdi bdo br code em font i kbd mark nobr s samp small span strong tt u var wbr".split(" ");
const NAME_BYTES_MAX = 6;
/** An element's name, in either case, as a number of five bits per letter. */
const withLetter = (name: number, byte: number): number => (name << 5) | (byte & 31);
const INLINE_NAMES: ReadonlySet<number> = new Set(INLINE.map((name) => [...Buffer.from(name)].reduce(withLetter, 0)));
const GAP_BYTES_MAX = 96;

/** First characters of gaps. */
export const GAP_STARTS = " \t\r\n<\\";

/** A part of a gap as a pattern, for forms that the automaton does not read. */
export const GAP_PART = String.raw`[ \t\r\n]|\\[nrt]|</?(?:${INLINE.join("|")})(?: [^<>]{0,48})?/?>`;

/** End of the gap that begins at `at`, where the byte is one of GAP_STARTS; `at` if there is no gap. */
export function gapEnd(bytes: Uint8Array, at: number): number {
  const stop = Math.min(bytes.length, at + GAP_BYTES_MAX);
  let end = at;
  for (;;) {
    const byte = bytes[end];
    const next = byte === LESS ? tagEnd(bytes, end, stop) : byte === BACKSLASH ? escapeEnd(bytes, end) : isBlank(byte) ? end + 1 : end;
    if (next === end || next > stop) break;
    end = next;
  }
  return end === at + 1 && bytes[at] === SPACE ? at : end;
}

const escapeEnd = (bytes: Uint8Array, at: number): number => (ESCAPED.has(bytes[at + 1] ?? 0) ? at + 2 : at);

/** Index after the tag of an inline element, at most `stop`; `at` if there is no such tag. */
export function tagEnd(bytes: Uint8Array, at: number, stop: number): number {
  const from = bytes[at + 1] === SLASH ? at + 2 : at + 1;
  let name = 0;
  let end = from;
  while (end < stop && end - from <= NAME_BYTES_MAX && isLetter(bytes[end])) name = withLetter(name, bytes[end++] as number);
  if (end - from > NAME_BYTES_MAX || !INLINE_NAMES.has(name)) return at;
  while (end < stop && bytes[end] !== GREATER && bytes[end] !== LESS) end++;
  return bytes[end] === GREATER && end < stop ? end + 1 : at;
}

const SPACE = 0x20;
const SLASH = 0x2f;
const LESS = 0x3c;
const GREATER = 0x3e;
const BACKSLASH = 0x5c;
/** `n`, `r` and `t`. */
const ESCAPED: ReadonlySet<number> = new Set([0x6e, 0x72, 0x74]);

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === 0x09 || byte === 0x0a || byte === 0x0d;
const isLetter = (byte: number | undefined): boolean => byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
