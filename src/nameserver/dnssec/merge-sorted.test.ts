import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { mergeSorted } from "./merge-sorted.ts";

test("property: sorted lists merge into one sorted list", () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(50)), { maxLength: 12 }), (lists) => {
      const sorted = lists.map((list) => list.toSorted((a, b) => a - b));
      assert.deepEqual(
        [...mergeSorted(sorted, (a, b) => a < b)],
        lists.flat().sort((a, b) => a - b),
      );
    }),
  );
});
