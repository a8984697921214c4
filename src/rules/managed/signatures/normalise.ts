import { charge } from "#rules/budget.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";

/**
 * A value as the programs behind it may come to see it: escapes of URLs, HTML and scripts resolved, overlong and full-width
 * spellings made plain, NUL bytes gone, blanks made single spaces, in lower case. Time is linear in the value.
 */
export function normalise(value: string, plusIsSpace: boolean): string {
  if (!NEEDS_WORK.test(value)) return value;
  let text = plusIsSpace && value.includes("+") ? value.replaceAll("+", " ") : value;
  for (let round = 0; round < ROUNDS_MAX && text.includes("%"); round++) {
    charge(text.length * DECODE_STEPS);
    const decoded = decodeUrl(text);
    if (decoded === text) break;
    text = decoded;
  }
  if (WIDE.test(text)) text = narrow(text);
  if (text.includes("&")) {
    charge(text.length * DECODE_STEPS);
    text = decodeEntities(text);
  }
  if (text.includes("\\")) {
    charge(text.length * DECODE_STEPS);
    text = decodeScript(text);
  }
  if (text.includes("\0")) text = text.replaceAll("\0", "");
  return lowerBytes(BLANKS.test(text) ? text.replace(ALL_BLANKS, " ") : text);
}

/** Anything but lower-case words with plain punctuation. */
const NEEDS_WORK = /[^ !-$'-*,-[\]-~]|[A-Z&%+]| {2}/;
const ROUNDS_MAX = 3;
/** What a byte costs of a text in which escapes are looked for. */
const DECODE_STEPS = 12;
const BLANKS = /[\t\n\v\f\r\xa0]| {2}/;
const ALL_BLANKS = /[\t\n\v\f\r \xa0]+/g;
// UTF-8 of overlong ASCII, and of the full-width forms.
const WIDE = /[\xc0\xc1\xef]/;

const byte = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** `%41`, and `%u0041` as some servers take it. */
const decodeUrl = (text: string): string =>
  text.replace(/%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/gi, (_whole, point: string | undefined, hex: string | undefined) =>
    point === undefined ? byte(hex ?? "") : ofCodePoint(Number.parseInt(point, 16)),
  );

/** Full-width characters are what they look like; others beyond Latin-1 stand for nothing that anything looks for. */
function ofCodePoint(point: number): string {
  if (point < 0x100) return String.fromCharCode(point);
  return point > 0xff00 && point < 0xff5f ? String.fromCharCode(point - 0xfee0) : "\x1a";
}

const narrow = (text: string): string =>
  text
    .replace(/[\xc0\xc1][\x80-\xbf]/g, (pair) => String.fromCharCode(((pair.charCodeAt(0) & 1) << 6) | (pair.charCodeAt(1) & 0x3f)))
    .replace(/\xef([\xbc\xbd])([\x80-\xbf])/g, (_whole, second: string, third: string) =>
      ofCodePoint(0xf000 | ((second.charCodeAt(0) & 0x3f) << 6) | (third.charCodeAt(0) & 0x3f)),
    );

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  colon: ":",
  equals: "=",
  gt: ">",
  lpar: "(",
  lt: "<",
  newline: "\n",
  nbsp: " ",
  quot: '"',
  rpar: ")",
  sol: "/",
  tab: "\t",
};

const decodeEntities = (text: string): string =>
  text.replace(
    /&(?:#x0{0,8}([0-9a-f]{1,6})|#0{0,8}([0-9]{1,7})|(amp|apos|colon|equals|gt|lpar|lt|newline|nbsp|quot|rpar|sol|tab));?/gi,
    (_whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? "";
      return ofCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );

/** `\x41`, `\u0041` and `\u{41}`. */
const decodeScript = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|u\{0{0,8}([0-9a-f]{1,6})\})/gi,
    (_whole, hex: string | undefined, point: string | undefined, braced: string | undefined) =>
      ofCodePoint(Number.parseInt(hex ?? point ?? braced ?? "0", 16)),
  );

/** What a database reads where comments stand between words; the same text where there are none. */
export function withoutComments(text: string): string {
  if (!text.includes("/*")) return text;
  let kept = "";
  let at = 0;
  for (let start = text.indexOf("/*"); start >= 0; start = text.indexOf("/*", at)) {
    kept += text.slice(at, start);
    if (text[start + 2] === "!") {
      // MySQL carries out what stands in such a comment, behind a version perhaps.
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

/** What a file system reads: one kind of slash, once, and no `.` among the names. */
export function plainPath(text: string): string {
  const slashes = text.includes("\\") ? text.replaceAll("\\", "/") : text;
  // linear: pumped
  return /\/\.?\//.test(slashes) ? slashes.replace(/\/(?:\.?\/)+/g, "/") : slashes;
}

/** What a shell reads: quotes, escapes and empty variables within words are nothing, and `$IFS` is a space. */
export function unquoted(text: string): string {
  if (!/['"\\^$`{]/.test(text)) return text;
  return text
    .replace(/\$\{ifs[^}]{0,20}\}|\$ifs(?:\$[0-9])?/g, " ")
    .replace(/\{([a-z]{2,10}),([^}]{0,200})\}/g, (_whole, name: string, rest: string) => `${name} ${rest.replaceAll(",", " ")}`)
    .replace(/['"\\^`]|\$[@*0-9]|\$\{[@*0-9]\}/g, "")
    .replace(/ {2,}/g, " ");
}
