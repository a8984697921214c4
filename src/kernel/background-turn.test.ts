import assert from "node:assert/strict";
import { test } from "node:test";
import { backgroundTurn } from "./background-turn.ts";
import { inTicks } from "./in-ticks.ts";

test("of many long tasks, one has a slice in each tick, in rotation", async () => {
  const slices: string[] = [];
  let most = 0;
  let seen = 0;
  let isOver = false;
  const look = (): void => {
    most = Math.max(most, slices.length - seen);
    seen = slices.length;
    if (!isOver) setImmediate(look);
  };
  const task = async (name: string): Promise<void> => {
    await backgroundTurn();
    await inTicks(Array.from({ length: 40 }), 10, () => slices.push(name));
  };
  look();
  await Promise.all(["a", "b", "c"].map(task));
  isOver = true;
  assert.equal(slices.length, 120);
  // A tick that this test sees may have parts of two.
  assert.ok(most <= 20, `${most} steps in a tick`);
  for (const at of [0, 30, 60, 90]) assert.equal(new Set(slices.slice(at, at + 30)).size, 3);
});
