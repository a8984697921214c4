import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../test/support/growth.ts";
import { fc } from "../../test/support/property.ts";
import { trimBlanks, withoutEnd } from "./trim.ts";

const text = fc.string({ unit: fc.constantFrom("/", " ", "\t", "a", "\u00a0"), maxLength: 12 });

test("property: trimming gives the same result as a regular expression", () => {
  fc.assert(
    fc.property(text, (given) => {
      assert.equal(withoutEnd(given, "/"), given.replace(/\/+$/, ""));
      assert.equal(trimBlanks(given), given.replace(/^[ \t]+|[ \t]+$/g, ""));
    }),
  );
});

test("trimming takes linear time", () => {
  assertGrowsLinearly("trimBlanks", (length) => () => trimBlanks(`a${" ".repeat(length)}b`));
  assertGrowsLinearly("withoutEnd", (length) => () => withoutEnd(`${"/".repeat(length)}b`, "/"));
});
