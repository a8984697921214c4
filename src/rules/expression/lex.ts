import { ExpressionError, type Span } from "./expression-error.ts";

export type Token = Span &
  (
    | { readonly kind: "name"; readonly text: string }
    | { readonly kind: "integer"; readonly value: number; readonly text: string }
    /** One char per byte: values of requests are bytes, so literals are too. */
    | { readonly kind: "string"; readonly value: string }
    | { readonly kind: "address"; readonly text: string }
    | { readonly kind: "symbol"; readonly text: string }
    | { readonly kind: "end" }
  );

/** The tokens of an expression, ending in `end`. Throws ExpressionError. */
export function lex(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    if (at >= text.length) break;
    const token = readToken(text, at);
    tokens.push(token);
    at = token.to;
  }
  tokens.push({ kind: "end", from: text.length, to: text.length });
  return tokens;
}

// Longest first, so that `==` is not read as two.
const SYMBOLS = [
  "&&",
  "||",
  "^^",
  "==",
  "!=",
  "<=",
  ">=",
  "..",
  "**",
  "<",
  ">",
  "!",
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  ",",
  "*",
  "~",
  "&",
  "$",
];

// Words may contain dots, as field names do.
const NAME = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/y;
// An address has to be told from an integer and from a range of integers: `1..5`.
const ADDRESS = /(?:\d{1,3}(?:\.\d{1,3}){3}|(?=[0-9A-Fa-f:]*:[0-9A-Fa-f]*:)[0-9A-Fa-f:]+(?:(?:\.\d{1,3}){3})?)(?:\/\d{1,3})?/y;
const INTEGER = /-?(?:0x[0-9A-Fa-f]+|\d+)/y;

/** White space is space, CR and LF; a tab is an error (waf.md). */
function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && (text[at] === " " || text[at] === "\n" || text[at] === "\r")) at++;
  return at;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function readToken(text: string, at: number): Token {
  if (text[at] === '"') return readQuoted(text, at);
  const raw = match(/r(#{0,255})"/y, text, at);
  if (raw !== undefined) return readRaw(text, at, raw);
  const address = match(ADDRESS, text, at);
  if (address !== undefined) return { kind: "address", text: address, from: at, to: at + address.length };
  const name = match(NAME, text, at);
  if (name !== undefined) return { kind: "name", text: name, from: at, to: at + name.length };
  const digits = match(INTEGER, text, at);
  if (digits !== undefined) return readInteger(text, at, digits);
  const symbol = SYMBOLS.find((known) => text.startsWith(known, at));
  if (symbol !== undefined) return { kind: "symbol", text: symbol, from: at, to: at + symbol.length };
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const what = char === "\t" ? "a tab is not white space here; use spaces" : `unexpected character ${JSON.stringify(char)}`;
  throw new ExpressionError(text, { from: at, to: at + char.length }, what);
}

function readInteger(text: string, at: number, digits: string): Token {
  const span = { from: at, to: at + digits.length };
  const body = digits.replace("-", "");
  const octal = /^0\d/.test(body);
  if (octal && /[89]/.test(body)) throw new ExpressionError(text, span, "an integer with a leading 0 is octal and has no 8 or 9");
  const size = octal ? Number.parseInt(body, 8) : Number(body);
  if (/[A-Za-z0-9_]/.test(text[span.to] ?? "")) throw new ExpressionError(text, span, "an integer may not run into letters");
  // Integer fields (lengths, codes, ports) stay far below 2^53; beyond it a comparison would be inexact.
  if (!Number.isSafeInteger(size)) throw new ExpressionError(text, span, "the integer is too large");
  return { kind: "integer", value: digits.startsWith("-") ? -size : size, text: digits, ...span };
}

function readRaw(text: string, at: number, opening: string): Token {
  const closing = `"${opening.slice(1, -1)}`;
  const end = text.indexOf(closing, at + opening.length);
  if (end === -1) throw new ExpressionError(text, { from: at, to: at + opening.length }, "the raw string is not closed");
  return { kind: "string", value: toBytes(text.slice(at + opening.length, end)), from: at, to: end + closing.length };
}

const toBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

// `\*` stays as it is: only `wildcard` gives it a meaning.
const ESCAPE = /\\(?:(["\\])|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|(\*))/y;

function readQuoted(text: string, start: number): Token {
  let value = "";
  let at = start + 1;
  for (;;) {
    const stop = nextOf(text, at);
    if (stop === -1) throw new ExpressionError(text, { from: start, to: start + 1 }, "the string is not closed");
    value += toBytes(text.slice(at, stop));
    if (text[stop] === '"') return { kind: "string", value, from: start, to: stop + 1 };
    const escape = readEscape(text, stop);
    value += escape.value;
    at = stop + escape.length;
  }
}

function nextOf(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === '"' || text[at] === "\\") return at;
  return -1;
}

function readEscape(text: string, at: number): { readonly value: string; readonly length: number } {
  ESCAPE.lastIndex = at;
  const found = ESCAPE.exec(text);
  if (found === null)
    throw new ExpressionError(
      text,
      { from: at, to: Math.min(at + 2, text.length) },
      String.raw`unknown escape; known are \", \\, \*, \xHH and \OOO`,
    );
  const [whole, char, hex, octal] = found;
  if (char === "\\") return { value: "\\", length: whole.length };
  if (char !== undefined) return { value: char, length: whole.length };
  if (hex !== undefined) return { value: String.fromCharCode(Number.parseInt(hex, 16)), length: whole.length };
  if (octal !== undefined) return { value: String.fromCharCode(Number.parseInt(octal, 8)), length: whole.length };
  return { value: String.raw`\*`, length: whole.length };
}
