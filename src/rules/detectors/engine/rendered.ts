import { tagEnd } from "./gaps.ts";

/**
 * Renders a text as a reader sees it: decodes entities, escapes of JSON and scripts, percent-encoding and digits of other
 * scripts, and removes markup and invisible characters within values.
 */

/** A rendered text, with the offset of each of its bytes in the original. It is never longer than the original. */
export interface Rendered {
  readonly bytes: Buffer;
  readonly offsets: Int32Array;
}

export const renderBuffer = (bytes: number): Rendered => ({ bytes: Buffer.allocUnsafeSlow(bytes), offsets: new Int32Array(bytes) });

/** Renders `from[start, end)` into `into` and returns the number of bytes there. */
export function render(from: Uint8Array, start: number, end: number, into: Rendered): number {
  const { bytes, offsets } = into;
  let length = 0;
  for (let at = start; at < end;) {
    const width = readUnit(from, at, end);
    if (code !== NOTHING) {
      offsets[length] = at;
      if (width === 1 || code < 0x80) bytes[length++] = code;
      else {
        const stop = length + bytes.write(String.fromCodePoint(code), length, "utf8");
        while (length < stop) offsets[length++] = at;
      }
    }
    at += width;
  }
  return length;
}

/** Index after the original unit of the byte: `into` and the text are those of `render`. */
export function rawEnd(from: Uint8Array, { bytes, offsets }: Rendered, at: number): number {
  const start = offsets[at] as number;
  return bytes[at] === from[start] ? start + 1 : start + readUnit(from, start, from.length);
}

/** Markup that is rare in pages, so that every occurrence is checked; other elements are checked directly after digits. */
const RARE_TAGS = ["</b>", "<em>", "<mark>", "<wbr"];
const TAGS = ["b>", "em", "sp", "st", "!-", "/b", "/e", "/s", "/m"];
const SIGNS = [0x2b, 0x2d, 0x2e, 0x3a, 0x3d, 0x40, 0x5f];
const hexOf = (char: number): readonly string[] => {
  const hex = char.toString(16);
  return [...new Set([hex, hex.toUpperCase()])];
};
const utf8 = (char: number): string => Buffer.from(String.fromCodePoint(char)).toString("latin1");
const tens = (first: number): readonly number[] => Array.from({ length: 10 }, (_, digit) => first + digit);

/** First digits of the scripts that banks' pages use: full-width, Arabic, Persian and Devanagari. */
const DIGIT_SCRIPTS = [0xff10, 0x660, 0x6f0, 0x966];

/**
 * Texts, in Latin-1, at which a value may be encoded: `mayTransform` is a quick check, and `isWorth` reads the
 * surroundings. None is only three bytes long: the prefilter would stop at each of these, whatever follows.
 */
export const HINTS: readonly string[] = [
  ...RARE_TAGS,
  ...tens(0x30).flatMap((char) => TAGS.map((tag) => `${utf8(char)}<${tag}`)),
  "&shy;",
  "&#8203;",
  "&#173;",
  ...tens(0x30).flatMap((char) => [0xad, 0x200b, 0x2060].map((between) => utf8(between) + utf8(char))),
  ...tens(0x30).flatMap((char) => {
    const hex = char.toString(16);
    return [`&#${char};`, `&#x${hex};`, `\\u00${hex}`, `\\x${hex}`, `%${hex}%`];
  }),
  // Adjacent encoded letters: capitals, and of lower-case ones only a to c, because Cyrillic texts have entities with the
  // digits of the others.
  ...["9", "6", "7", "8", "x4", "x5", "x6", "x7"].map((figures) => `;&#${figures}`),
  ...["4", "5", "6", "7"].map((figure) => `\\u00${figure}`),
  ...SIGNS.flatMap((char) => [`&#${char};`, ...hexOf(char).flatMap((hex) => [`&#x${hex};`, `\\u00${hex}`, `\\x${hex}`])]),
  ...["%3A%2F%2F", "%3a%2f%2f", ":\\/\\/", ":\\u002F\\u002F", ":\\u002f\\u002f", ":&#x2F;&#x2F;", ":&#47;&#47;"],
  // Another digit of the script follows.
  ...DIGIT_SCRIPTS.flatMap((first) => tens(first).map((char) => utf8(char) + utf8(char).slice(0, 1))),
].filter((hint, index, all) => all.indexOf(hint) === index);

/** Bytes to the left and right that show whether a value may be hidden. */
const LEFT_BYTES = 40;
const RIGHT_BYTES = 160;
/** Digits of a number, and characters of a key, one of which is a digit. */
const DIGITS_MIN = 8;
const KEY_CHARACTERS_MIN = 16;

/** Start of the encoded character that a hint refers to; some hints begin with the character before it. */
const unitStart = (bytes: Uint8Array, at: number): number =>
  bytes[at] === SEMICOLON || CHARACTERS[bytes[at] as number] === DIGIT ? at + 1 : at;
/** Whether the hint is `://`, which every link has; only a link with a name and a password is worth a check. */
const isAddress = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === COLON || (bytes[at] === PERCENT && ((bytes[at + 2] ?? 0) | 0x20) === SMALL_A);

/** Whether the hinted unit is invisible between visible characters, or a character of values. */
export function mayTransform(bytes: Uint8Array, at: number): boolean {
  if (isAddress(bytes, at)) return true;
  const start = unitStart(bytes, at);
  if (readUnit(bytes, start, bytes.length) === 1) return false;
  return code === NOTHING ? isShown(bytes[start - 1]) : code < 0x80 && CHARACTERS[code] !== OTHER;
}

/** Whether a number, a key or an address may be hidden near the hint. */
export function isWorth(bytes: Uint8Array, at: number): boolean {
  const start = unitStart(bytes, at);
  const { digits, length } = countLeft(bytes, start);
  if (digits >= DIGITS_MIN) return true;
  return countRight(bytes, start, Math.min(bytes.length, at + RIGHT_BYTES), digits, length, isAddress(bytes, at));
}

function countLeft(bytes: Uint8Array, at: number): { readonly digits: number; readonly length: number } {
  let digits = 0;
  let length = 0;
  for (let i = at - 1; i >= 0 && i >= at - LEFT_BYTES; i--) {
    if (bytes[i] === GREATER) {
      i = tagStart(bytes, i);
      continue;
    }
    const kind = CHARACTERS[bytes[i] as number];
    if (kind === OTHER) break;
    // Keys have no spaces.
    if (kind === BLANK) length -= KEY_CHARACTERS_MIN;
    else length++;
    if (kind === DIGIT) digits++;
  }
  return { digits, length: Math.max(0, length) };
}

/** Start of the inline element's tag that ends at `at`; 0 if there is none. */
function tagStart(bytes: Uint8Array, at: number): number {
  for (let i = at - 1; i >= 0 && i >= at - LEFT_BYTES; i--) if (bytes[i] === LESS) return tagEnd(bytes, i, at + 1) === at + 1 ? i : 0;
  return 0;
}

function countRight(bytes: Uint8Array, from: number, stop: number, before: number, long: number, isUrl: boolean): boolean {
  let [digits, length] = [before, long];
  let isBehindBlank = false;
  for (let i = from; i < stop;) {
    i += readUnit(bytes, i, stop);
    if (code === NOTHING) continue;
    const kind = code < 0x80 ? CHARACTERS[code] : OTHER;
    if (kind === OTHER || (isBehindBlank && kind !== DIGIT)) return false;
    isBehindBlank = kind === BLANK;
    if (isBehindBlank) length = -RIGHT_BYTES;
    else length++;
    if (kind === DIGIT) digits++;
    if (code === AT_SIGN) return true;
    if (!isUrl && (digits >= DIGITS_MIN || (length >= KEY_CHARACTERS_MIN && digits > 0))) return true;
  }
  return false;
}

const OTHER = 0;
const DIGIT = 1;
const KEY = 2;
const BLANK = 3;
/** Characters of numbers, keys and addresses. */
const CHARACTERS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[A-Za-z_\-.+/=:@]/.test(char)) return KEY;
  return char === " " ? BLANK : OTHER;
});
const isShown = (byte: number | undefined): boolean => byte !== undefined && CHARACTERS[byte] !== OTHER;

/** Result of `readUnit`: a character's code or a byte of UTF-8, or NOTHING. */
let code = 0;
const NOTHING = -1;

/** Reads a unit that is shown as one character or not at all; returns its length in bytes. A plain byte has length one. */
function readUnit(bytes: Uint8Array, at: number, end: number): number {
  const byte = bytes[at] as number;
  if (MAY_HIDE[byte] === 1) {
    const width = READERS.get(byte)?.(bytes, at, end) ?? 0;
    if (width > 0 && at + width <= end) return width;
  }
  code = byte;
  return 1;
}

const LESS = 0x3c;
const GREATER = 0x3e;
const SEMICOLON = 0x3b;
const COLON = 0x3a;
const PERCENT = 0x25;
const AT_SIGN = 0x40;
const SMALL_A = 0x61;
const COMMENT_BYTES_MAX = 96;
const TAG_BYTES_MAX = 160;

function readTag(bytes: Uint8Array, at: number, end: number): number {
  code = NOTHING;
  if (bytes[at + 1] !== 0x21) {
    // A line break is shown.
    if (((bytes[at + 1] ?? 0) | 0x20) === 0x62 && ((bytes[at + 2] ?? 0) | 0x20) === 0x72) return 0;
    return tagEnd(bytes, at, Math.min(end, at + TAG_BYTES_MAX)) - at;
  }
  if (bytes[at + 2] !== DASH || bytes[at + 3] !== DASH) return 0;
  const stop = Math.min(end, at + COMMENT_BYTES_MAX);
  for (let i = at + 4; i + 2 < stop; i++) if (bytes[i] === DASH && bytes[i + 1] === DASH && bytes[i + 2] === GREATER) return i + 3 - at;
  return 0;
}

const DASH = 0x2d;

/** `&#52;`, `&#x34;` with up to seven digits, and `&shy;`. */
function readEntity(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== 0x23) {
    code = NOTHING;
    return SHY.every((byte, i) => bytes[at + i] === byte) ? SHY.length : 0;
  }
  const isHex = ((bytes[at + 2] ?? 0) | 0x20) === 0x78;
  const from = at + (isHex ? 3 : 2);
  let value = 0;
  let i = from;
  for (; i < from + 7; i++) {
    const figure = FIGURES[bytes[i] ?? 0] as number;
    if (figure >= (isHex ? 16 : 10)) break;
    value = value * (isHex ? 16 : 10) + figure;
  }
  if (i === from || bytes[i] !== SEMICOLON) return 0;
  return shown(value) ? i + 1 - at : 0;
}

const SHY = [...Buffer.from("&shy;")];
/** The value of a hexadecimal digit, 16 for other bytes. */
const FIGURES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? 16 : value;
});

/** The number with this many hexadecimal digits; -1 if other bytes are among them. */
function hexAt(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const figure = FIGURES[bytes[i] ?? 0] as number;
    if (figure === 16) return -1;
    value = value * 16 + figure;
  }
  return value;
}

/** `\u0034`, `\x34` and `\/`. */
function readEscape(bytes: Uint8Array, at: number): number {
  const next = bytes[at + 1];
  if (next === 0x2f) {
    code = next;
    return 2;
  }
  if (next === 0x75) return shown(hexAt(bytes, at + 2, 4)) ? 6 : 0;
  return next === 0x78 && shown(hexAt(bytes, at + 2, 2)) ? 4 : 0;
}

function readPercent(bytes: Uint8Array, at: number): number {
  const value = hexAt(bytes, at + 1, 2);
  code = value;
  return value >= 0x20 && value < 0x7f ? 3 : 0;
}

/** Characters of two and three bytes that are shown as others, or not at all. */
function readWide(width: 2 | 3): (bytes: Uint8Array, at: number) => number {
  return (bytes, at) => {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    const first = bytes[at] as number;
    const value = width === 2 ? ((first & 0x1f) << 6) | (second & 0x3f) : ((first & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f);
    if ((second & 0xc0) !== 0x80 || (width === 3 && (third & 0xc0) !== 0x80)) return 0;
    shown(value);
    return code === value ? 0 : width;
  };
}

/** Whether the character exists; `code` is set to the character that is shown. */
function shown(value: number): boolean {
  if (value < 0 || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return false;
  code = value;
  if (value < 0x80) return value >= 0x20;
  if (isInvisible(value)) code = NOTHING;
  else if (value >= 0xff01 && value <= 0xff5e) code = value - 0xfee0;
  else if (value === 0x3000) code = 0x20;
  else {
    const first = DIGIT_SCRIPTS.find((digit) => value >= digit && value < digit + 10);
    if (first !== undefined) code = value - first + 0x30;
  }
  return true;
}

/** Soft hyphens, zero-width spaces, joiners and direction marks. */
const isInvisible = (value: number): boolean =>
  value === 0xad ||
  (value >= 0x200b && value <= 0x200f) ||
  (value >= 0x202a && value <= 0x202e) ||
  (value >= 0x2060 && value <= 0x2069) ||
  value === 0xfeff;

const READERS: ReadonlyMap<number, (bytes: Uint8Array, at: number, end: number) => number> = new Map([
  [LESS, readTag],
  [0x26, readEntity],
  [0x5c, readEscape],
  [PERCENT, readPercent],
  ...[0xc2, 0xd9, 0xdb].map((byte) => [byte, readWide(2)] as const),
  ...[0xe0, 0xe2, 0xe3, 0xef].map((byte) => [byte, readWide(3)] as const),
]);
const MAY_HIDE = Uint8Array.from({ length: 256 }, (_, byte) => (READERS.has(byte) ? 1 : 0));
