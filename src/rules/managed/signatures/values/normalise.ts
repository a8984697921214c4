import { charge } from "#rules/budget.ts";
import { BEST_FITS, FOLDING, foldedBytes } from "#rules/text/folding.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";

/**
 * How a value is read: in one line, without SQL's comments, as a path, as a shell's words, or only
 * decoded, for tokenizers that know line breaks and comments.
 */
export type Reading = (typeof READINGS)[number];
export const READINGS = ["plain", "sql", "path", "shell", "lines"] as const;

/** A value as programs behind the edge may read it. */
export interface Decoded {
  /** Without NUL bytes, with single spaces for all white space. */
  readonly text: string;
  /** With its line breaks and everything else in its place. */
  readonly lines: string;
  /** Whether it is a JSON document whose names and texts are values, too, so that only its marks are left to be found in it. */
  readonly isDocument?: boolean;
}

/**
 * Escapes of URLs, HTML and scripts resolved, overlong and full-width spellings made plain, in lower case. Time is linear in the value.
 */
export function normalise(value: string): Decoded {
  if (!NEEDS_WORK.test(value)) return { text: value, lines: value };
  let text = value;
  text = inRounds(text, ROUNDS_MAX, "%", PERCENT_AGAIN, decodeUrl);
  if (WIDE.test(text)) text = narrow(text);
  if (text.includes("&") && CODE.test(text)) text = withoutCode(text);
  if (REFERENCE.test(text)) text = inRounds(text, ENTITY_ROUNDS_MAX, "&", REFERENCE_AGAIN, decodeEntities);
  if (text.includes("\\")) {
    charge(text.length * DECODE_STEPS);
    text = decodeScript(text);
  }
  const lines = lowerBytes(text);
  const whole = lines.includes("\0") ? lines.replaceAll("\0", "") : lines;
  return { text: BLANKS.test(whole) ? whole.replace(ALL_BLANKS, " ") : whole, lines };
}

/** Anything but lower-case words with plain punctuation. */
const NEEDS_WORK = /[^ !-$'-*,-[\]-~]|[A-Z&%+]| {2}/;
const ROUNDS_MAX = 3;
/** `&amp;lt;` is a bracket for a program that decodes it twice. */
const ENTITY_ROUNDS_MAX = 2;
const REFERENCE = /&[#a-z]/i;
/** Decoded characters that can be part of another escape. */
const PERCENT_AGAIN = /[%0-9a-fu]/i;
const REFERENCE_AGAIN = /[&#;0-9a-z]/i;
/** Steps per byte of a text that is searched for escapes, and per escape. */
const DECODE_STEPS = 1;
const ESCAPE_STEPS = 36;
const BLANKS = /[\t\n\v\f\r\xa0]| {2}/;
const ALL_BLANKS = /[\t\n\v\f\r \xa0]+/g;
// UTF-8 of overlong ASCII, and of what folds to ASCII.
const WIDE =
  /[\xc0\xc1\xef]|\xe0\x80|\xf0\x80\x80|\xf8\x80\x80\x80|\xfc\x80{4}|\xc2[\xaa\xb2\xb3\xb9\xba]|[\xc4-\xcb\xe1\xe2]|\xe3[\x80\x8c-\x8f]|\xea\x9f|\xf0(?:\x9c\xb3|\x9d[\x90-\x9f]|\x9f[\x84-\x86])/;

type Note = (decoded: string) => string;

/** Decodes a text that has a mark, and again while what was decoded may be part of another escape. */
function inRounds(text: string, most: number, mark: string, again: RegExp, decode: (text: string, note: Note) => string): string {
  let read = text;
  let isAgain = true;
  const note: Note = (decoded) => {
    isAgain ||= again.test(decoded);
    return decoded;
  };
  for (let round = 0; round < most && isAgain && read.includes(mark); round++) {
    isAgain = false;
    charge(read.length * DECODE_STEPS);
    read = decode(read, note);
  }
  return read;
}

const byte = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** `%41`, and `%u0041` as some servers take it. */
const decodeUrl = (text: string, note: Note): string =>
  text.replace(/%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/gi, (_whole, point: string | undefined, hex: string | undefined) => {
    charge(ESCAPE_STEPS);
    return note(point === undefined ? byte(hex ?? "") : ofCodePoint(Number.parseInt(point, 16)));
  });

/** Full-width characters become the ASCII ones that they look like; other characters beyond Latin-1 match no signature. */
function ofCodePoint(point: number): string {
  if (point < 0x100) return String.fromCharCode(point);
  return point > 0xff00 && point < 0xff5f ? String.fromCharCode(point - 0xfee0) : (BEST_FITS.get(point) ?? "\x1a");
}

const narrow = (text: string): string =>
  text
    .replace(/(?:\xfc\x80{4}|\xf8\x80\x80\x80|\xf0\x80\x80|\xe0\x80)[\x80-\xbf]/g, (bytes) =>
      String.fromCharCode(bytes.charCodeAt(bytes.length - 1) & 0x3f),
    )
    // An invalid second byte is read as itself.
    .replace(/\xc0[./\\]/g, (pair) => pair[1]!)
    .replace(/[\xc0\xc1][\x80-\xbf]/g, (pair) => String.fromCharCode(((pair.charCodeAt(0) & 1) << 6) | (pair.charCodeAt(1) & 0x3f)))
    .replace(FOLDING, foldedBytes)
    .replace(/\xef([\xbc\xbd])([\x80-\xbf])/g, (_whole, second: string, third: string) =>
      ofCodePoint(0xf000 | ((second.charCodeAt(0) & 0x3f) << 6) | (third.charCodeAt(0) & 0x3f)),
    );

const CODE = /<(?:code|pre)[ >]/i;

/** In pages that show code, text that is written as `&lt;` stays encoded. */
function withoutCode(text: string): string {
  charge(text.length * DECODE_STEPS);
  let shown = "";
  let at = 0;
  for (const { index } of text.matchAll(/<(?:code|pre)[ >]/gi)) {
    if (index < at) continue;
    const end = text.indexOf("<", index + 1);
    if (end < 0) break;
    shown += text.slice(at, index) + text.slice(index, end).replace(/&lt;?|&#0{0,8}60;?|&#x0{0,8}3c;?/gi, " ");
    at = end;
  }
  return shown + text.slice(at);
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  bsol: "\\",
  colon: ":",
  comma: ",",
  dollar: "$",
  equals: "=",
  excl: "!",
  grave: "`",
  gt: ">",
  lbrace: "{",
  lbrack: "[",
  lcub: "{",
  lpar: "(",
  lsqb: "[",
  lt: "<",
  newline: "\n",
  nbsp: " ",
  period: ".",
  quot: '"',
  rbrace: "}",
  rbrack: "]",
  rcub: "}",
  rpar: ")",
  rsqb: "]",
  semi: ";",
  sol: "/",
  tab: "\t",
};

const decodeEntities = (text: string, note: Note): string =>
  text.replace(
    /&(?:#x0{0,8}([0-9a-f]{1,6})|#0{0,8}([0-9]{1,7})|(amp|apos|bsol|colon|comma|dollar|equals|excl|grave|gt|lbrace|lbrack|lcub|lpar|lsqb|lt|newline|nbsp|period|quot|rbrace|rbrack|rcub|rpar|rsqb|semi|sol|tab));?/gi,
    (_whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
      charge(ESCAPE_STEPS);
      if (name !== undefined) return note(ENTITIES[name.toLowerCase()] ?? "");
      return note(ofCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)));
    },
  );

/** `\x41`, `\u0041` and `\u{41}`. */
const decodeScript = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{0{0,8}([0-9a-f]{1,6})\})/gi,
    (_whole, hex: string | undefined, point: string | undefined, braced: string | undefined) => {
      charge(ESCAPE_STEPS);
      return ofCodePoint(Number.parseInt(hex ?? point ?? braced ?? "0", 16));
    },
  );

/** The text as a database reads it if comments separate words; unchanged without comments. */
export function withoutComments(text: string): string {
  if (!text.includes("/*")) return text;
  let kept = "";
  let at = 0;
  for (let start = text.indexOf("/*"); start >= 0; start = text.indexOf("/*", at)) {
    kept += text.slice(at, start);
    if (text[start + 2] === "!") {
      // MySQL executes the content of such a comment, possibly after a version.
      at = start + 3;
      while (at < start + 9 && /[0-9]/.test(text[at] ?? "")) at++;
      kept += " ";
      continue;
    }
    const end = text.indexOf("*/", start + 2);
    if (end < 0) return spaced(kept);
    kept += " ";
    at = end + 2;
  }
  return spaced(kept + text.slice(at));
}

const spaced = (text: string): string => text.replaceAll("*/", " ").replace(/ {2,}/g, " ");

/** The path as a file system reads it: with one kind of slash, without repeated slashes and `.` segments. A NUL byte ends it. */
export function plainPath(text: string): string {
  const dots = text.includes("0x") ? text.replace(/0x(?:2f|5c)/g, "/").replaceAll("0x2e", ".") : text;
  const slashes = dots.includes("\\") ? dots.replaceAll("\\", "/") : dots;
  // linear: pumped
  return /\/\.?\//.test(slashes) ? slashes.replace(/\/(?:\.?\/)+/g, "/") : slashes;
}

/**
 * The text as a shell reads it, line by line: quotes, escapes and empty variables within words disappear, and `$IFS` is a
 * space.
 */
export function unquoted(text: string): string {
  if (!/['"\\^$`{\t\r\0\xa0]| {2}/.test(text)) return text;
  return text
    .replace(/[\t\v\f\xa0\0]+/g, " ")
    .replace(/\r\n?/g, "\n")
    .replaceAll("$'", "'")
    .replace(/([a-z])``(?=[a-z])/g, "$1")
    .replace(/\$\{(?:path|home|pwd):0:1\}/g, "/")
    .replace(/\$\{ifs[^}]{0,20}\}|\$ifs(?:\$[0-9])?/g, " ")
    .replace(/\{([a-z]{2,10}),([^}]{0,200})\}/g, (_whole, name: string, rest: string) => `${name} ${rest.replaceAll(",", " ")}`)
    .replace(/['"\\^]|\$[@*0-9]|\$\{[@*0-9]\}/g, "")
    .replace(/ {2,}/g, " ");
}

/** A value in each reading. */
export const READ: Readonly<Record<Reading, (value: Decoded) => string>> = {
  plain: ({ text }) => text,
  sql: ({ text }) => withoutComments(text),
  // Another reading is tested only if it ends a path or separates commands.
  path: ({ text, lines }) => plainPath(lines.includes("\0") ? lines : text),
  shell: ({ text, lines }) => unquoted(/[\n\r]/.test(lines) ? lines : text),
  lines: ({ lines }) => lines,
};
