import { byteRange, type ByteSet, folded, NAMED, oneByte, without } from "#rules/regex/byte-set.ts";
import type { PcreCursor } from "./pcre-cursor.ts";
import { ESCAPED_SETS, escapedByte } from "./pcre-escapes.ts";
import type { PcreNode } from "./pcre-node.ts";

/** A class of bytes, whose bracket has been read. */
export function readClass(cursor: PcreCursor, isInsensitive: boolean): PcreNode {
  const start = cursor.at - 1;
  const isNegated = cursor.takes("^");
  let bytes = 0n;
  for (let isFirst = true; isFirst || !cursor.takes("]"); isFirst = false) {
    if (cursor.hasEnded()) cursor.fail("the class is never closed", start);
    bytes |= classItem(cursor);
  }
  const cased = isInsensitive ? folded(bytes) : bytes;
  return { kind: "set", bytes: isNegated ? without(cased) : cased };
}

function classItem(cursor: PcreCursor): ByteSet {
  const first = classAtom(cursor);
  if (typeof first === "bigint") return first;
  if (!cursor.sees("-") || cursor.text[cursor.at + 1] === "]") return oneByte(first);
  cursor.at++;
  const last = classAtom(cursor);
  // A hyphen before a set is literal.
  if (typeof last === "bigint") return oneByte(first) | oneByte(0x2d) | last;
  if (last < first) cursor.fail("a range in a class goes from one byte to a later one");
  return byteRange(first, last);
}

function classAtom(cursor: PcreCursor): number | ByteSet {
  const found = cursor.match(/\[:(\^?)([a-z]+):\]/y);
  if (found !== null) {
    const bytes = NAMED[found[2]!] ?? cursor.fail(`unknown class [:${found[2]}:]`);
    return found[1] === "^" ? without(bytes) : bytes;
  }
  const char = cursor.next();
  if (char !== "\\") return char.charCodeAt(0) & 0xff;
  const escaped = cursor.next();
  if (escaped === "b") return 8;
  const code = ESCAPED_SETS.get(escaped) ?? escapedByte(cursor, escaped);
  if (typeof code === "number" && code > 0xff) cursor.fail("characters beyond one byte in a class");
  return code;
}
