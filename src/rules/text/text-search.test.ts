import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { indexOfPart } from "./text-search.ts";

const few = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b"), maxLength });

test("a part is found at the same position as by the native search, for any lengths", () => {
  fc.assert(
    fc.property(few(6), fc.nat(800), few(4), fc.nat(400), few(8), fc.nat(20), (piece, times, odd, partTimes, end, from) => {
      const text = piece.repeat(times) + odd + piece.repeat(partTimes) + end;
      const part = piece.repeat(partTimes) + end;
      assert.equal(indexOfPart(text, part, from), text.indexOf(part, from));
    }),
    { numRuns: 500 },
  );
});

test("searching for a long part takes linear time", () => {
  for (const [head, tail] of [
    ["a", "b"],
    ["", "b"],
    ["b", ""],
  ])
    assertGrowsLinearly(`${head}a…a${tail}`, (length) => {
      const text = "a".repeat(length);
      const part = `${head}${"a".repeat(length / 4)}${tail}${"a".repeat(length / 4)}`;
      return () => indexOfPart(text, part);
    });
});
