import { byteAt, digitAt, octalAt, unitAt } from "./hexadecimal.ts";

const char = String.fromCharCode;
const CONTROLS: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** The decoded text of an escape, and its number of characters after the backslash. */
type Escape = readonly [decoded: string, length: number];

/** Decodes the escape after each backslash. */
function decodeEscapes(text: string, escapeAt: (text: string, at: number) => Escape): string {
  let at = text.indexOf("\\");
  if (at === -1) return text;
  let decoded = "";
  let from = 0;
  while (at !== -1) {
    const [meant, length] = escapeAt(text, at + 1);
    decoded += text.slice(from, at) + meant;
    from = at + 1 + length;
    at = text.indexOf("\\", from);
  }
  return decoded + text.slice(from);
}

/** JavaScript's escapes: `\x41`, `\u0041`, octal ones and single-letter ones. */
export const jsDecode = (text: string): string => decodeEscapes(text, scriptEscape);

function scriptEscape(text: string, at: number): Escape {
  const next = text[at];
  if (next === undefined) return ["\\", 0];
  const unit = next === "u" ? unitAt(text, at + 1) : -1;
  if (unit !== -1) return [char(unit), 5];
  const byte = next === "x" ? byteAt(text, at + 1) : -1;
  if (byte !== -1) return [char(byte), 3];
  const octal = octalAt(text, at, 3);
  if (octal !== "") return [char(Number.parseInt(octal, 8)), octal.length];
  return [CONTROLS[next] ?? next, 1];
}

/** Decodes the escapes of C. An unknown escape loses its backslash. */
export const escapeSeqDecode = (text: string): string => decodeEscapes(text, sequenceEscape);

function sequenceEscape(text: string, at: number): Escape {
  const next = text[at];
  if (next === undefined) return ["\\", 0];
  const byte = next === "x" || next === "X" ? byteAt(text, at + 1) : -1;
  if (byte !== -1) return [char(byte), 3];
  const octal = octalAt(text, at, 3);
  if (octal !== "") return [char(Number.parseInt(octal, 8)), octal.length];
  return [CONTROLS[next] ?? next, 1];
}

/** The escapes of style sheets: up to six digits and one space. */
export const cssDecode = (text: string): string => decodeEscapes(text, styleEscape);

function styleEscape(text: string, at: number): Escape {
  const next = text[at];
  if (next === undefined) return ["", 0];
  let digits = 0;
  while (digits < 6 && digitAt(text, at + digits) !== -1) digits++;
  if (digits === 0) return next === "\n" ? ["", 1] : [next, 1];
  const code = Number.parseInt(text.slice(at, at + digits), 16);
  const isFullWidth = digits >= 4 && (code & 0xffff) >= 0xff01 && (code & 0xffff) <= 0xff5e;
  const hasSpace = /[ \t\n\v\f\r]/.test(text[at + digits] ?? "");
  return [char(((code & 0xff) + (isFullWidth ? 0x20 : 0)) & 0xff), digits + (hasSpace ? 1 : 0)];
}

/** Characters of UTF-8 as `%u0041`, so that urlDecodeUni may turn look-alikes into ASCII. */
export function utf8toUnicode(text: string): string {
  let decoded = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const first = text.charCodeAt(at);
    if (first < 0x80) continue;
    const length = first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xc0 && first < 0xe0 ? 2 : 0;
    const code = length === 0 ? -1 : characterAt(text, at, length);
    if (code === -1) continue;
    decoded += `${text.slice(from, at)}%u${code.toString(16).padStart(4, "0")}`;
    at += length - 1;
    from = at + 1;
  }
  return from === 0 ? text : decoded + text.slice(from);
}

function characterAt(text: string, at: number, length: number): number {
  let code = text.charCodeAt(at) & (0x7f >> length);
  for (let i = 1; i < length; i++) {
    const next = text.charCodeAt(at + i);
    if ((next & 0xc0) !== 0x80) return -1;
    code = (code << 6) | (next & 0x3f);
  }
  // Longer than it must be is a character too, as for ModSecurity: some readers of UTF-8 take it for one.
  return code > 0x10ffff ? -1 : code;
}
