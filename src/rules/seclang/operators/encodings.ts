import { oneByte } from "#rules/regex/byte-set.ts";
import { byteAt } from "../transformations/hexadecimal.ts";
import type { SecOperator } from "../program/program.ts";
import { type OperatorTest, wholeValueMatch } from "./operator-test.ts";

/** `32-126,9`: matches values that have any other byte. */
export function validateByteRange({ words }: SecOperator): OperatorTest {
  const allowed = new Uint8Array(256);
  for (const range of words) {
    const [first = "", last = first] = range.split("-");
    allowed.fill(1, Number(first), Number(last) + 1);
  }
  return {
    test: (value) => {
      for (let i = 0; i < value.length; i++) if (allowed[value.charCodeAt(i) & 0xff] === 0) return wholeValueMatch(value, true);
      return null;
    },
    needs: { kind: "byte", bytes: Array.from(allowed).reduce((set, isAllowed, byte) => (isAllowed === 1 ? set : set | oneByte(byte)), 0n) },
  };
}

/** Whether two hexadecimal digits follow each `%`. */
export function validateUrlEncoding(value: string): boolean {
  for (let at = value.indexOf("%"); at !== -1; at = value.indexOf("%", at + 1)) if (byteAt(value, at + 1) === -1) return false;
  return true;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

export function validateUtf8(value: string): boolean {
  if (!/[\x80-\xff]/.test(value)) return true;
  try {
    decoder.decode(Buffer.from(value, "latin1"));
    return true;
  } catch {
    return false;
  }
}
