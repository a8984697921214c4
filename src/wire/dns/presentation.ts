import { RdataError } from "./errors.ts";

/** One word of RDATA text. `raw` contains escapes; a quoted word is without its outer quotes. */
export interface Token {
  readonly raw: string;
  readonly quoted: boolean;
}

const SPACE = /[ \t\r\n]/;
const BACKSLASH = 0x5c;

/**
 * Splits RDATA text into words (RFC 1035 §5.1): white space separates, double quotes group, a backslash escapes the next
 * character. `key="value"` is one word, as in service parameters (RFC 9460 §2.1). Throws RdataError if a quote is not
 * closed.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    if (SPACE.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    const quoted = text[at] === '"';
    const end = quoted ? closingQuote(text, at + 1) : wordEnd(text, at);
    tokens.push({ raw: text.slice(quoted ? at + 1 : at, end), quoted });
    at = quoted ? end + 1 : end;
  }
  return tokens;
}

/** The index of the quote that closes the string starting at `from`. */
export function closingQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at += text[at] === "\\" ? 2 : 1) {
    if (text[at] === '"') return at;
  }
  throw new RdataError("has inconsistent quotes");
}

function wordEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !SPACE.test(text.charAt(at))) {
    if (text[at] === '"') {
      if (text[at - 1] !== "=") throw new RdataError("has inconsistent quotes");
      at = closingQuote(text, at + 1) + 1;
    } else {
      at += text[at] === "\\" ? 2 : 1;
    }
  }
  return Math.min(at, text.length);
}

/** Decodes text with `\DDD` and `\X` escapes; other characters become UTF-8. */
export function unescapeText(raw: string): Buffer {
  if (!raw.includes("\\")) return Buffer.from(raw, "utf8");
  // An escape is never shorter than the bytes that it represents.
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(raw, "utf8"));
  let length = 0;
  for (let at = 0; at < raw.length;) {
    let code = raw.charCodeAt(at);
    if (code === BACKSLASH) {
      const escape = readEscape(raw, at);
      if (escape.byte !== undefined) {
        bytes[length++] = escape.byte;
        at += escape.length;
        continue;
      }
      // The escaped character may need several bytes in UTF-8.
      code = raw.charCodeAt(++at);
    }
    if (code < 0x80) {
      bytes[length++] = code;
      at += 1;
      continue;
    }
    const character = String.fromCodePoint(raw.codePointAt(at) ?? 0);
    length += bytes.write(character, length, "utf8");
    at += character.length;
  }
  return bytes.subarray(0, length);
}

/** Reads the escape at a backslash. `byte` is undefined if the escaped character is not ASCII. */
export function readEscape(raw: string, slash: number): { byte: number | undefined; length: number } {
  const code = raw.charCodeAt(slash + 1);
  if (Number.isNaN(code)) throw new RdataError("ends in a backslash");
  if (!isDigit(code)) return { byte: code < 0x80 ? code : undefined, length: 2 };
  const [second, third] = [raw.charCodeAt(slash + 2), raw.charCodeAt(slash + 3)];
  const value = isDigit(second) && isDigit(third) ? (code - 0x30) * 100 + (second - 0x30) * 10 + third - 0x30 : 256;
  if (value > 255) throw new RdataError("has an escape that is not \\DDD with a value up to 255");
  return { byte: value, length: 4 };
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

const decimal = (byte: number): string => `\\${String(byte).padStart(3, "0")}`;

// Precomputed forms of each byte inside quotes and inside a name.
const IN_QUOTES = Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x20 || byte > 0x7e) return decimal(byte);
  const character = String.fromCharCode(byte);
  return character === '"' || character === "\\" ? `\\${character}` : character;
});

const IN_LABEL = Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x21 || byte > 0x7e) return decimal(byte);
  const character = String.fromCharCode(byte);
  return '.\\"();@$'.includes(character) ? `\\${character}` : character;
});

const escapeWith = (table: readonly string[], bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += table[byte];
  return text;
};

/** A character string in master file format, with its quotes. */
export const quoteBytes = (bytes: Uint8Array): string => `"${escapeWith(IN_QUOTES, bytes)}"`;

/** One label of a name, or a word without quotes. */
export const escapeLabel = (bytes: Uint8Array): string => escapeWith(IN_LABEL, bytes);
