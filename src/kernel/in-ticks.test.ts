import assert from "node:assert/strict";
import { test } from "node:test";
import { inTicks } from "./in-ticks.ts";
import { itemsPerTurn } from "../../test/support/items-per-turn.ts";

test("inTicks handles each item once, in order, with a limited number in each tick", async () => {
  const seen: number[] = [];
  const turns = itemsPerTurn();
  await inTicks(
    Array.from({ length: 25 }, (_, i) => i),
    10,
    (item) => {
      seen.push(item);
      turns.add(1);
    },
  );
  assert.deepEqual(seen, [...Array(25).keys()]);
  assert.deepEqual(turns.most(), 10);
});

test("an error of one item ends inTicks", async () => {
  await assert.rejects(
    inTicks([1, 2, 3], 1, (item) => {
      if (item === 2) throw new Error("two");
    }),
    /two/,
  );
});
