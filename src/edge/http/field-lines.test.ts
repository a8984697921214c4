import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { listLines, parseLines } from "./field-lines.ts";

test("RFC 9110 §5.5: the parser strips white space around a value, and keeps it within", () => {
  const lines = "A: \t b  c \t\r\nB:\r\na:d\u00a0";
  assert.deepEqual(listLines(lines), { names: ["A", "B", "a"], values: ["b  c", "", "d\u00a0"] });
  assert.deepEqual(
    [...parseLines(lines)],
    [
      ["a", ["b  c", "d\u00a0"]],
      ["b", [""]],
    ],
  );
});

test("parsing a field value with much white space takes linear time", () => {
  for (const piece of [" ", "\t", " \t"])
    assertGrowsLinearly(piece, (length) => {
      const lines = `X: a${piece.repeat(length / piece.length)}b`;
      return () => listLines(lines);
    });
});
