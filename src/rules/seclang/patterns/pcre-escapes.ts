import { byteRange, type ByteSet, CLASSES, NEWLINE, oneByte, without } from "#rules/regex/byte-set.ts";
import type { PcreCursor } from "./pcre-cursor.ts";

// Horizontal and vertical white space, \h and \v.
const HORIZONTAL: ByteSet = oneByte(0x09) | oneByte(0x20) | oneByte(0xa0);
export const VERTICAL: ByteSet = byteRange(0x0a, 0x0d) | oneByte(0x85);
/** The sets of bytes of escapes such as `\\d` and `\\h`. */
export const ESCAPED_SETS: ReadonlyMap<string, ByteSet> = new Map<string, ByteSet>(
  [...Object.entries(CLASSES), ["h", HORIZONTAL] as const, ["v", VERTICAL] as const, ["N", without(NEWLINE)] as const].flatMap(
    ([letter, bytes]): [string, ByteSet][] =>
      letter === "N"
        ? [[letter, bytes]]
        : [
            [letter, bytes],
            [letter.toUpperCase(), without(bytes)],
          ],
  ),
);
const CONTROLS: Readonly<Record<string, number>> = { a: 7, e: 27, f: 12, n: 10, r: 13, t: 9 };

/** The byte of an escape; its first letter has been read. */
export function escapedByte(cursor: PcreCursor, char: string): number {
  const control = CONTROLS[char];
  if (control !== undefined) return control;
  if (char === "x") {
    const found = cursor.match(/\{([0-9a-fA-F]{1,8})\}|[0-9a-fA-F]{0,2}/y)!;
    return Number.parseInt(found[1] ?? (found[0] || "0"), 16);
  }
  if (/[0-7]/.test(char)) {
    const digits = char + cursor.match(/[0-7]{0,2}/y)![0];
    return Number.parseInt(digits, 8) & 0xff;
  }
  if (char === "c") return cursor.next().toUpperCase().charCodeAt(0) ^ 0x40;
  if (/[A-Za-z]/.test(char)) cursor.fail(`unknown escape \\${char}`);
  return char.charCodeAt(0);
}
