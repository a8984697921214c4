import assert from "node:assert/strict";
import { test } from "node:test";
import type { BodyCut } from "#edge/detection/body-cut.ts";
import { withoutCutEdges } from "./cut-edges.ts";

/** The rest of a part that arrives in pieces of `pieceBytes`. */
function left(text: string, cut: BodyCut, pieceBytes: number): string {
  const parts: Buffer[] = [];
  const edges = withoutCutEdges(cut, { write: (bytes) => void parts.push(Buffer.from(bytes)), end: () => undefined });
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += pieceBytes) edges.write(bytes.subarray(at, at + pieceBytes));
  edges.end();
  return Buffer.concat(parts).toString("latin1");
}

const CARD = "4716 4615 8332 2103";

test("the scanner leaves out text that a truncation may have split, and keeps all other text", () => {
  for (const pieceBytes of [1, 7, 1000]) {
    for (const [text, cut, expected] of [
      [`1111 ${CARD}, and more`, "start", " and more"],
      [`ABNA 0417 ${CARD}<b>`, "start", "b>"],
      [`a number is ${CARD}, ok`, "start", `is ${CARD}, ok`],
      [`...cut off as of ${CARD}.`, "start", `as of ${CARD}.`],
      [`x AKIA4QYHJT3NWBKLD2PX `, "start", ""],
      [`see "${CARD}" and ${CARD}\r\n`, "end", `see "${CARD}" and`],
      [`${CARD} is a number\r\n`, "end", `${CARD} is`],
      [`${CARD} NL91 ABNA 04\r\n`, "end", ""],
      [`the word ${CARD} a\r\n`, "end", "the word"],
      [CARD, "none", CARD],
    ] as const) {
      assert.equal(left(text, cut, pieceBytes), expected, `${text} in pieces of ${pieceBytes}`);
    }
  }
});

test("for a long word, the scanner leaves out at most 64 bytes at each truncation", () => {
  const text = "7".repeat(300);
  assert.equal(left(text, "start", 11).length, 236);
  assert.equal(left(text, "end", 11).length, 236);
  assert.equal(left(text, "both", 11).length, 172);
});
