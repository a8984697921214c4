import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../../test/support/growth.ts";
import { fc } from "../../../../test/support/property.ts";
import { readCookies, readPairs } from "./request-parts.ts";

test("pairs are split at &, and names from values at the first =", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "b", "=", "&"), maxLength: 16 }), (text) => {
      const pairs = text.split("&").filter((pair) => pair !== "");
      const { names, all } = readPairs(text);
      assert.deepEqual(
        names.map((name, i) => [name, all[i]]),
        pairs.map((pair) => [pair.split("=", 1)[0], pair.includes("=") ? pair.slice(pair.indexOf("=") + 1) : ""]),
      );
    }),
  );
});

test("splitting pairs takes linear time", () => {
  for (const read of [readPairs, readCookies])
    for (const piece of ["a&", "&", "=", "a=&", "&=", ";", "a;", "a", "; ", "%", "a=%2"])
      for (const end of ["", "=", "&"])
        assertGrowsLinearly(
          `${piece} ${end}`,
          (length) => {
            const text = piece.repeat(length / piece.length) + end;
            return () => read(text);
          },
          512 * 1024,
        );
});
