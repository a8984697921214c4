import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { listMembers } from "./list-members.ts";

const CASES: readonly (readonly [line: string, members: readonly string[]])[] = [
  ["", []],
  ["a", ["a"]],
  [" a ,\tb, ,,c", ["a", "b", "c"]],
  ['x="a, b", y', ['x="a, b"', "y"]],
  [String.raw`x="a\", b", y`, [String.raw`x="a\", b"`, "y"]],
  ['a, x="b, c', ["a", 'x="b, c']],
  ['a, x="b\\', ["a", 'x="b\\']],
  [String.raw`a\, b`, ["a\\", "b"]],
];

for (const [line, members] of CASES)
  test(`RFC 9110 §5.6.1: ${JSON.stringify(line)} has ${members.length} members`, () => assert.deepEqual(listMembers(line), members));

test("parsing an unclosed quoted string takes linear time", () => {
  for (const piece of [String.raw`\"`, '"', ",", " ", 'x="\\"', '",'])
    assertGrowsLinearly(piece, (length) => {
      const line = `max-age=60, x="${piece.repeat(length / piece.length)}`;
      return () => listMembers(line);
    });
});
