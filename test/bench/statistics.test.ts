import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../support/property.ts";
import { differenceOfBlocks, joined, median, pairedRatio, quantile, ratioOfBlocks, ratioOfPooled } from "./statistics.ts";

test("the median of a few values", () => {
  assert.equal(median([3]), 3);
  assert.equal(median([4, 1]), 2.5);
  assert.equal(median([9, 1, 5]), 5);
  assert.ok(Number.isNaN(median([])));
});

test("a quantile is one of the values, with its share of the values below it", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, fraction) => {
      const found = quantile(values, fraction);
      assert.ok(values.includes(found));
      assert.ok(values.filter((value) => value < found).length <= values.length * fraction);
    }),
  );
});

test("the ratio of paired values is their geometric mean, with a narrower interval the more they agree", () => {
  const { middle, low, high } = pairedRatio([2, 8], [1, 2]);
  assert.ok(Math.abs(middle - Math.sqrt(8)) < 1e-9 && low < middle && high > middle);
  const same = pairedRatio([3, 6, 9], [1, 2, 3]);
  for (const value of [same.middle, same.low, same.high]) assert.ok(Math.abs(value - 3) < 1e-9);
  assert.ok(Number.isNaN(pairedRatio([1], [1]).low));
});

test("the ratio of pooled quantiles lies within the interval of resampled blocks", () => {
  const blocks = Array.from({ length: 40 }, (_, mood) => {
    const others = Array.from({ length: 50 }, (_, index) => 100 + index + mood * 10);
    return { ours: others.map((value) => value * 1.1), others };
  });
  const { middle, low, high } = ratioOfPooled(blocks, 0.5, 200);
  assert.ok(Math.abs(middle - 1.1) < 1e-9);
  // Each block is 1.1 times its other side, whatever its mood, and so are all drawings of them.
  assert.ok(Math.abs(low - 1.1) < 1e-9 && Math.abs(high - 1.1) < 1e-9);
});

test("the ratio within blocks is independent of drift and of a few failed blocks", () => {
  const blocks = Array.from({ length: 40 }, (_, mood) => {
    const values = Array.from({ length: 50 }, (_, index) => (100 + index) * (1 + mood));
    const others = [values.map((value) => value * 2), values.map((value) => value / 2)];
    return { ours: values.map((value) => value * (mood % 20 === 7 ? 30 : 1.1)), others };
  });
  const { middle, low, high } = ratioOfBlocks(blocks, 0.5, 200);
  assert.ok(Math.abs(middle - 1.1) < 1e-9 && low <= middle && high >= middle);
  assert.ok(low > 1.09);
});

test("blocks are joined in order, and an incomplete last one is dropped", () => {
  const blocks = [1, 2, 3, 4, 5].map((value) => ({ ours: [value], others: [[-value], [10 * value]] }));
  assert.deepEqual(joined(blocks, 2), [
    {
      ours: [1, 2],
      others: [
        [-1, -2],
        [10, 20],
      ],
    },
    {
      ours: [3, 4],
      others: [
        [-3, -4],
        [30, 40],
      ],
    },
  ]);
});

test("the difference within blocks is independent of their common part", () => {
  const moods = [0, 500, 100, 900, 300, 200, 700, 50, 400, 600, 800, 150];
  const blocks = moods.map((mood, index) => ({ ours: [mood + 95, mood + 100 + (index % 3), 5000], others: [mood, mood + 1, mood - 1] }));
  const { middle, low, high } = differenceOfBlocks(blocks, 200);
  assert.ok(middle > 100 && middle < 102 && low <= middle && high >= middle && high - low < 3, `${low} ${middle} ${high}`);
});
