import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../support/property.ts";
import { median, quantile } from "./statistics.ts";

test("medians of few values", () => {
  assert.equal(median([3]), 3);
  assert.equal(median([4, 1]), 2.5);
  assert.equal(median([9, 1, 5]), 5);
  assert.ok(Number.isNaN(median([])));
});

test("a quantile is one of the values, with its share of them below", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, fraction) => {
      const found = quantile(values, fraction);
      assert.ok(values.includes(found));
      assert.ok(values.filter((value) => value < found).length <= values.length * fraction);
    }),
  );
});
