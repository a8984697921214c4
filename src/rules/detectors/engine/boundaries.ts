import { DIGIT, LETTER } from "./chain-templates.ts";
import { CHAIN_CLASSES } from "./chains.ts";
import { COLON } from "#rules/detectors/prefilter/prefilter.ts";

// Reads the text before and after a position: whether something may begin there, and where. All loops are bounded.

/** Bytes of an address before its at sign, and of a name before a literal. */
const NAME_BYTES_MAX = 64;
/** Most letters at the start of a code. */
const LETTERS_MAX = 8;

const IS_NAME = Uint8Array.from({ length: 256 }, (_, byte) => (/[A-Za-z0-9._%+-]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** Start of the name that ends before `at`. */
export function nameStart(view: Buffer, at: number): number {
  let start = at;
  while (start > 0 && at - start < NAME_BYTES_MAX && IS_NAME[view[start - 1] as number] === 1) start--;
  while (start < at && CHAIN_CLASSES[view[start] as number] !== LETTER && CHAIN_CLASSES[view[start] as number] !== DIGIT) start++;
  return start;
}

/** Start of the part before the at sign at `at`, if it is quoted or ends with a letter beyond ASCII; otherwise `at`. */
export function otherStart(view: Buffer, at: number): number {
  if (view[at - 1] === QUOTE) {
    for (let start = at - 2; start >= 0 && at - start <= NAME_BYTES_MAX; start--)
      if (view[start] === QUOTE && view[start - 1] !== BACKSLASH) return start;
    return at;
  }
  let start = at;
  while (start > 0 && at - start < NAME_BYTES_MAX && ((view[start - 1] as number) >= 0x80 || IS_NAME[view[start - 1] as number] === 1))
    start--;
  return start;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether the colon before `at` ends a name such as `ip:` and is not part of an address. */
export function isBehindLabel(view: Buffer, at: number): boolean {
  for (let i = at - 2; i >= 0 && at - i <= LABEL_LETTERS_MAX && isWord(view[i]); i--)
    if (IS_HEXADECIMAL[view[i] as number] === 0) return true;
  return false;
}

const LABEL_LETTERS_MAX = 16;

export const IS_HEXADECIMAL = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9A-Fa-f]/.test(String.fromCharCode(byte)) ? 1 : 0));
/** Whether another colon follows the next group, or follows at once. */
export function hasColonSoon(view: Buffer, at: number, atOnce: boolean): boolean {
  if (atOnce) return view[at + 1] === COLON;
  for (let i = at + 1; i <= at + HEXADECIMALS_MAX + 1; i++) {
    const byte = view[i] ?? 0;
    if (byte === COLON) return true;
    if (IS_HEXADECIMAL[byte] === 0) return false;
  }
  return false;
}

/** In a group of an address. */
export const HEXADECIMALS_MAX = 4;

const WORD_BYTES_MIN = 26;

/** Whether a word of letters and digits as long as a wallet's address begins here. */
export function isLongWord(view: Buffer, at: number): boolean {
  if (view[at] !== ONE && view[at] !== TWO && view[at] !== THREE) return false;
  for (let i = at + 1; i < at + WORD_BYTES_MIN; i++) {
    const column = CHAIN_CLASSES[view[i] ?? 0];
    if (column !== DIGIT && column !== LETTER) return false;
  }
  return true;
}

const ONE = 0x31;
const TWO = 0x32;
const THREE = 0x33;
export const UNDERSCORE = 0x5f;
const SPACE = 0x20;
const DOT = 0x2e;
const DASH = 0x2d;
const SEMICOLON = 0x3b;

export const isUpper = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x41 && byte <= 0x5a;

export function isWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const column = CHAIN_CLASSES[byte];
  return column === DIGIT || column === LETTER || byte === UNDERSCORE;
}

/** Whether the byte comes before any byte that ends a key or an address. */
export function follows(view: Buffer, at: number, needed: number): boolean {
  const stop = Math.min(view.length, at + NEEDED_WITHIN_BYTES);
  for (let i = at; i < stop; i++) {
    const byte = view[i] as number;
    if (byte === needed) return true;
    if (ENDS_TEXT[byte] === 1) return false;
  }
  return false;
}

/** A name of 64 and a password of 128 characters, and the separators between them. */
const NEEDED_WITHIN_BYTES = 200;
const ENDS_TEXT = Uint8Array.from({ length: 256 }, (_, byte) => (/[\s"'<>/]/.test(String.fromCharCode(byte)) ? 1 : 0));

/** Start of the word whose letters end before `at`; -1 if it is too long or begins with another character. */
export function lettersStart(view: Buffer, at: number): number {
  let start = at;
  while (start > 0 && CHAIN_CLASSES[view[start - 1] as number] === LETTER) if (at - --start > LETTERS_MAX) return -1;
  return start === at || (start > 0 && isWord(view[start - 1])) ? -1 : start;
}

/** Names that people write directly before a number. */
const NAMES_OF_NUMBERS: ReadonlySet<string> = new Set(
  "visa mastercard amex discover maestro diners jcb unionpay card cardno cardnumber creditcard debitcard cc ccn pan ssn".split(" "),
);
/** Words before a number without the space between them, as in texts converted from other formats. */
const ENDS_OF_SENTENCES = /(?:is|number)$/;
const NUMBER_NAME_BYTES_MAX = 24;

/** The last two letters of the names and words: scripts have thousands of other letters before digits. */
const ENDS_OF_NAMES = new Uint8Array(2 ** 10);
for (const name of [...NAMES_OF_NUMBERS, "is", "number"])
  ENDS_OF_NAMES[((name.charCodeAt(name.length - 2) & 31) << 5) | (name.charCodeAt(name.length - 1) & 31)] = 1;

/** Whether all letters before `at` are one of these names, or end with such a word. */
export function isBehindName(view: Buffer, at: number): boolean {
  if (ENDS_OF_NAMES[(((view[at - 2] ?? 0) & 31) << 5) | ((view[at - 1] ?? 0) & 31)] === 0) return false;
  let start = at;
  while (start > 0 && CHAIN_CLASSES[view[start - 1] as number] === LETTER) if (at - --start > NUMBER_NAME_BYTES_MAX) return false;
  const name = view.toString("latin1", start, at).toLowerCase();
  return NAMES_OF_NUMBERS.has(name) || ENDS_OF_SENTENCES.test(name);
}

/**
 * Start of the country's two letters before the check digits at `at`, with one separator or none between them; -1 if
 * there are none.
 */
export function countryStart(view: Buffer, at: number): number {
  const end = at - separatorBefore(view, at);
  const start = lettersStart(view, end);
  if (start < 0) return -1;
  return end - start === COUNTRY_LETTERS || spells(view, start, end - COUNTRY_LETTERS, "iban") ? end - COUNTRY_LETTERS : -1;
}

const COUNTRY_LETTERS = 2;
const NBSP = "&nbsp;";

/** Bytes of the separator that ends before `at`. */
function separatorBefore(view: Buffer, at: number): number {
  const byte = view[at - 1];
  if (byte === SPACE || byte === DASH || byte === DOT) return 1;
  if (byte === 0xa0) return view[at - 2] === 0xc2 ? 2 : 1;
  return byte === SEMICOLON && view.toString("latin1", at - NBSP.length, at) === NBSP ? NBSP.length : 0;
}

const spells = (view: Buffer, from: number, to: number, word: string): boolean =>
  to - from === word.length && view.toString("latin1", from, to).toLowerCase() === word;

/** Start of up to two short words of letters before the digits at `at`, as in `AB 12`, `AB.1` and `B-AB 12`; `at` without such words. */
export function wordsStart(view: Buffer, at: number): number {
  let first = at;
  for (let words = 0; words < 2; words++) {
    const separator = view[first - 1];
    if (separator !== SPACE && separator !== DASH && separator !== DOT) return first;
    const start = lettersStart(view, first - 1);
    if (start < 0) return first;
    first = start;
  }
  return first;
}

export function wordEnd(view: Buffer, start: number): number {
  let end = start;
  while (CHAIN_CLASSES[view[end] ?? 0] === LETTER) end++;
  return end;
}

/** Whether the digits are the `5` of `0.5`, `.5` or `12-5`: a part of something longer. */
export function continuesNumber(view: Buffer, at: number): boolean {
  const separator = view[at - 1];
  if (separator !== DOT && separator !== DASH) return false;
  if (at > 1 && CHAIN_CLASSES[view[at - 2] ?? 0] === DIGIT) return true;
  return separator === DOT && isFractionPoint(view, at - 1);
}

/** Words of scripts that a minifier leaves directly before a number. */
const WORDS_BEFORE_FRACTIONS: ReadonlySet<string> = new Set("return case else typeof void throw yield await in of do".split(" "));
/** Commands of SVG paths; the number after one may have no zero before its point (SVG 2 §9.3). */
const PATH_COMMANDS: ReadonlySet<string> = new Set([..."MmLlHhVvCcSsQqTtAa", "zm", "zM", "Zm", "ZM"]);
const WORD_LETTERS_MAX = 6;

/**
 * Whether the point at `at`, before a digit, begins a fraction without its zero: `opacity:.53`, `(.5,-.5)`, `c.5`. After
 * a word or another point, it ends a sentence or belongs to a row of dots.
 */
function isFractionPoint(view: Buffer, at: number): boolean {
  const before = view[at - 1] ?? SPACE;
  if (before === DOT || before >= 0x80) return false;
  if (!isWord(before)) return true;
  let start = at;
  while (start > 0 && CHAIN_CLASSES[view[start - 1] as number] === LETTER) if (at - --start > WORD_LETTERS_MAX) return false;
  if (start === at) return false;
  const word = view.toString("latin1", start, at);
  if (PATH_COMMANDS.has(word)) return true;
  return WORDS_BEFORE_FRACTIONS.has(word) && (start === 0 || !isWord(view[start - 1]));
}

/** Whether the groups began further left: the last three of `1111 2222 3333 4444` or `AL47 2222 …` are not a number. */
export function continuesSeries(view: Buffer, at: number, text: string): boolean {
  const first = /^\d+(?= )/.exec(text)?.[0].length;
  if (first === undefined || view[at - 1] !== SPACE) return false;
  const before = groupBefore(view, at - 1, first);
  if (before === null || view[at - 2 - first] !== SPACE) return before?.hasDigit === true;
  // The bank code of an IBAN can be letters only.
  return before.hasDigit || groupBefore(view, at - 2 - first, first)?.hasDigit === true;
}

/** The word that ends before `end`; null if it has another length. */
function groupBefore(view: Buffer, end: number, expected: number): { readonly hasDigit: boolean } | null {
  let hasDigit = false;
  let length = 0;
  for (; length <= expected && isWord(view[end - 1 - length]); length++)
    hasDigit ||= CHAIN_CLASSES[view[end - 1 - length] as number] === DIGIT;
  return length === expected ? { hasDigit } : null;
}

/** Expiry after a card number of four groups of four digits: month and year, or the year. */
const CARD_CHARACTERS_MIN = 19;
const EXPIRY = /^(?:(?:0[1-9]|1[0-2])\d\d|20\d\d)$/;

/**
 * Whether groups of equal length follow at `end`, where `text` of such groups ends: `2341 2341 2346` before ` 8812` is
 * not a separate number.
 */
export function goesOnAsSeries(view: Buffer, end: number, text: string): boolean {
  if (view[end] !== SPACE || CHAIN_CLASSES[view[end + 1] ?? 0] !== DIGIT) return false;
  // linear: pumped
  const last = /(?<= )\d+$/.exec(text)?.[0].length;
  if (last === undefined || /^\d+(?= )/.exec(text)?.[0].length !== last) return false;
  for (let i = 1; i <= last; i++) if (CHAIN_CLASSES[view[end + i] ?? 0] !== DIGIT) return false;
  if (isWord(view[end + 1 + last])) return false;
  return text.length < CARD_CHARACTERS_MIN || !EXPIRY.test(view.toString("latin1", end + 1, end + 1 + last));
}
