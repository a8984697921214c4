import { RdataError } from "./errors.ts";

/** One word of RDATA text. `raw` still has its escapes; a quoted word is without its outer quotes. */
export interface Token {
  readonly raw: string;
  readonly quoted: boolean;
}

const SPACE = /[ \t\r\n]/;

/**
 * Splits RDATA text into words (RFC 1035 §5.1): white space separates, double quotes group, a backslash
 * keeps the next character. `key="value"` stays one word, as service parameters are written (RFC 9460 §2.1).
 * Throws RdataError on quotes that do not close.
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

/** The index of the quote that closes the string which starts at `from`. */
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

/** The bytes that text with `\DDD` and `\X` escapes stands for; other characters are UTF-8. */
export function unescapeText(raw: string): Buffer {
  if (!raw.includes("\\")) return Buffer.from(raw, "utf8");
  const parts: Buffer[] = [];
  let at = 0;
  while (at < raw.length) {
    const slash = raw.indexOf("\\", at);
    if (slash < 0) break;
    parts.push(Buffer.from(raw.slice(at, slash), "utf8"));
    const { byte, length } = readEscape(raw, slash);
    if (byte === undefined) {
      // The escaped character itself may be one that UTF-8 needs several bytes for.
      const character = String.fromCodePoint(raw.codePointAt(slash + 1) ?? 0);
      parts.push(Buffer.from(character, "utf8"));
      at = slash + 1 + character.length;
    } else {
      parts.push(Buffer.of(byte));
      at = slash + length;
    }
  }
  parts.push(Buffer.from(raw.slice(at), "utf8"));
  return Buffer.concat(parts);
}

/** Reads the escape at a backslash. `byte` is undefined where a character outside ASCII is escaped. */
export function readEscape(raw: string, slash: number): { byte: number | undefined; length: number } {
  const digits = /^\d{1,3}/.exec(raw.slice(slash + 1, slash + 4))?.[0];
  if (digits !== undefined) {
    const value = Number(digits);
    if (digits.length < 3 || value > 255) throw new RdataError("has an escape that is not \\DDD with a value up to 255");
    return { byte: value, length: 4 };
  }
  const code = raw.charCodeAt(slash + 1);
  if (Number.isNaN(code)) throw new RdataError("ends in a backslash");
  return { byte: code < 0x80 ? code : undefined, length: 2 };
}

const decimal = (byte: number): string => `\\${String(byte).padStart(3, "0")}`;

// Written out once: what each byte looks like inside quotes and inside a name.
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

/** A character string as the master file format shows it, with its quotes. */
export const quoteBytes = (bytes: Uint8Array): string => `"${escapeWith(IN_QUOTES, bytes)}"`;

/** One label of a name, or a word that needs no quotes. */
export const escapeLabel = (bytes: Uint8Array): string => escapeWith(IN_LABEL, bytes);
