import { ExpressionError } from "./expression-error.ts";
import type { Token } from "./lex.ts";

/** How a quoted string reads its escapes: in a regular expression `\` is the expression's own, and a wildcard knows `\*`. */
export type StringUse = "text" | "regex" | "wildcard";

/** The bytes that a string token writes, one char for each. Raw strings have no escapes (waf.md). Throws ExpressionError. */
export function readString(expression: string, token: Token & { readonly kind: "string" }, use: StringUse): string {
  if (token.raw) return toBytes(token.text);
  if (use === "regex") return toBytes(token.text.replaceAll(String.raw`\"`, '"'));
  let value = "";
  let at = 0;
  for (;;) {
    const stop = token.text.indexOf("\\", at);
    if (stop === -1) return value + toBytes(token.text.slice(at));
    const escape = readEscape(token.text, stop, use);
    if (escape === undefined) {
      const from = token.inner + stop;
      throw new ExpressionError(expression, { from, to: from + 2 }, `unknown escape; known are ${known(use)}`);
    }
    value += toBytes(token.text.slice(at, stop)) + escape.value;
    at = stop + escape.length;
  }
}

/** A literal that reads as these bytes. */
export function writeString(bytes: string): string {
  const text = Buffer.from(bytes, "latin1").toString("utf8");
  const exact = toBytes(text) === bytes;
  const shown = exact ? text : bytes;
  // oxlint-disable-next-line no-control-regex
  const hidden = exact ? /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g : /["\\\u0000-\u001f\u007f-\u00ff]/g;
  return `"${shown.replace(hidden, (char) => (char === '"' || char === "\\" ? `\\${char}` : escaped(char)))}"`;
}

export const toBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const escaped = (char: string): string =>
  Array.from(
    Buffer.from(char, char.charCodeAt(0) > 0xff ? "utf8" : "latin1"),
    (byte) => `\\x${byte.toString(16).padStart(2, "0").toUpperCase()}`,
  ).join("");

const known = (use: StringUse): string => (use === "wildcard" ? String.raw`\", \\, \*, \xHH and \OOO` : String.raw`\", \\, \xHH and \OOO`);

const ESCAPE = /\\(?:(["\\])|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|(\*))/y;

function readEscape(text: string, at: number, use: StringUse): { readonly value: string; readonly length: number } | undefined {
  ESCAPE.lastIndex = at;
  const found = ESCAPE.exec(text);
  if (found === null) return undefined;
  const [whole, char, hex, octal] = found;
  const length = whole.length;
  if (char !== undefined) return { value: char, length };
  if (hex !== undefined) return { value: String.fromCharCode(Number.parseInt(hex, 16)), length };
  if (octal !== undefined) return { value: String.fromCharCode(Number.parseInt(octal, 8)), length };
  return use === "wildcard" ? { value: whole, length } : undefined;
}
