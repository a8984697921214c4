import { lowerBytes } from "#rules/text/text-functions.ts";

export interface FieldParameter {
  /** In lower case. */
  readonly name: string;
  /** Inside the quotes if it has some, with backslashes as sent. */
  readonly value: string;
}

/** `type; name=value; name="value"`, the form of Content-Type and Content-Disposition. */
export interface FieldValue {
  /** Before the first semicolon, in lower case. */
  readonly main: string;
  readonly parameters: readonly FieldParameter[];
  /** Whether every reader takes the same value (RFC 9110 §5.6.6, without spaces around `=`). */
  readonly isStrict: boolean;
}

// RFC 9110 §5.6.2.
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A value in MIME, which allows more characters without quotes. */
const PLAIN_VALUE = /^[^\s";,=\\]+(?:=[^\s";,=\\]*)*$/;

/** Reads every parameter that any reader could find, and whether all readers find the same. */
export function readFieldValue(text: string): FieldValue {
  const semicolon = text.indexOf(";");
  const main = lowerBytes((semicolon === -1 ? text : text.slice(0, semicolon)).trim());
  const parameters: FieldParameter[] = [];
  let isStrict = true;
  for (let at = semicolon === -1 ? text.length : semicolon + 1; at < text.length;) {
    at = skipBlanks(text, at);
    if (at === text.length) break;
    const end = endOfName(text, at);
    const name = text.slice(at, end);
    if (text[end] !== "=") {
      isStrict = false;
      at = nextSemicolon(text, end) + 1;
      continue;
    }
    isStrict &&= TOKEN.test(name);
    const from = skipBlanks(text, end + 1);
    isStrict &&= from === end + 1;
    const isQuoted = text[from] === '"';
    const valueEnd = isQuoted ? closingQuote(text, from) : nextSemicolon(text, from);
    const value = isQuoted ? text.slice(from + 1, valueEnd) : text.slice(from, valueEnd).trimEnd();
    isStrict &&= isQuoted ? valueEnd < text.length : PLAIN_VALUE.test(value);
    parameters.push({ name: lowerBytes(name.trim()), value });
    const next = isQuoted ? skipBlanks(text, valueEnd + 1) : valueEnd;
    isStrict &&= next >= text.length || text[next] === ";";
    at = nextSemicolon(text, next) + 1;
  }
  return { main, parameters, isStrict };
}

/** The text with each backslash escape replaced by its character. */
export const unescaped = (text: string): string => (text.includes("\\") ? text.replace(/\\([^])/g, "$1") : text);

export const isToken = (text: string): boolean => TOKEN.test(text);

function skipBlanks(text: string, at: number): number {
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

function endOfName(text: string, at: number): number {
  while (at < text.length && text[at] !== "=" && text[at] !== ";") at++;
  return at;
}

function nextSemicolon(text: string, at: number): number {
  const found = text.indexOf(";", at);
  return found === -1 ? text.length : found;
}

/** Index of the closing quote of the text that begins at `start`, or of the end of the text. */
function closingQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
