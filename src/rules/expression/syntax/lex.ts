import { ExpressionError, type Span } from "./expression-error.ts";

export type Token = Span &
  (
    | { readonly kind: "name"; readonly text: string }
    | { readonly kind: "integer"; readonly value: bigint; readonly text: string }
    /** The text between the quotes, as written; the string's use decides how escapes are read. */
    | { readonly kind: "string"; readonly raw: boolean; readonly text: string; readonly inner: number }
    /** Digits, letters and `. : - /`: an address, a block or bytes. */
    | { readonly kind: "word"; readonly text: string }
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
const SYMBOLS = "&& || ^^ == != <= >= .. ** < > ! ( ) { } [ ] , * ~ & $".split(" ");

// Names may contain dots, as field names do.
const NAME = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*/y;
// Begins with a digit or a colon, or with hexadecimal digits before a colon or a hyphen. Two dots end it: they make a
// range.
// linear: pumped
const WORD = /(?=[0-9:]|-[0-9]|[0-9A-Fa-f]{1,4}[:-])-?(?:[0-9A-Za-z_:\-/]|\.(?!\.))+/y;
const INTEGER = /^-?(?:0x[0-9A-Fa-f]+|\d+)$/;

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
  const raw = match(/r#*"/y, text, at);
  if (raw !== undefined) return readRaw(text, at, raw);
  const word = match(WORD, text, at);
  if (word !== undefined) return readWord(text, at, word);
  const name = match(NAME, text, at);
  if (name !== undefined) return { kind: "name", text: name, from: at, to: at + name.length };
  const symbol = SYMBOLS.find((known) => text.startsWith(known, at));
  if (symbol !== undefined) return { kind: "symbol", text: symbol, from: at, to: at + symbol.length };
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const what = char === "\t" ? "tabs are not allowed here; use spaces" : `unexpected character ${JSON.stringify(char)}`;
  throw new ExpressionError(text, { from: at, to: at + char.length }, what);
}

// 64 bits, as in the vendor's language.
const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 63n - 1n;

function readWord(text: string, at: number, word: string): Token {
  const span = { from: at, to: at + word.length };
  if (!INTEGER.test(word)) return { kind: "word", text: word, ...span };
  const body = word.replace("-", "");
  const octal = /^0\d/.test(body);
  if (octal && /[89]/.test(body)) throw new ExpressionError(text, span, "an integer with a leading 0 is octal and cannot contain 8 or 9");
  const size = BigInt(octal ? `0o${body}` : body);
  const value = word.startsWith("-") ? -size : size;
  if (value < INTEGER_MIN || value > INTEGER_MAX) throw new ExpressionError(text, span, "the integer does not fit into 64 bits");
  return { kind: "integer", value, text: word, ...span };
}

// waf.md: up to 255 `#`.
const HASHES_MAX = 255;

function readRaw(text: string, at: number, opening: string): Token {
  const span = { from: at, to: at + opening.length };
  if (opening.length - 2 > HASHES_MAX) throw new ExpressionError(text, span, `a raw string can have at most ${HASHES_MAX} #`);
  const closing = `"${opening.slice(1, -1)}`;
  const end = text.indexOf(closing, span.to);
  if (end === -1) throw new ExpressionError(text, span, `the raw string is not closed by ${closing}`);
  return { kind: "string", raw: true, text: text.slice(span.to, end), inner: span.to, from: at, to: end + closing.length };
}

function readQuoted(text: string, start: number): Token {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"')
      return { kind: "string", raw: false, text: text.slice(start + 1, at), inner: start + 1, from: start, to: at + 1 };
  }
  throw new ExpressionError(text, { from: start, to: start + 1 }, "the string is not closed");
}
