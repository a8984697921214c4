import assert from "node:assert/strict";
import { test } from "node:test";
import { createYieldQueue } from "./yield-queue.ts";

test("the queue runs one task per tick, in order, also for tasks that add more", async () => {
  const take = createYieldQueue();
  const done: string[] = [];
  let turn = 0;
  const work = (name: string, more: number): void =>
    take(() => {
      done.push(`${name}${turn}`);
      if (more > 0) work(name, more - 1);
    });
  work("a", 2);
  work("b", 1);
  for (turn = 0; turn < 8; turn++) await new Promise(setImmediate);
  assert.deepEqual(
    done.map((text) => text[0]),
    ["a", "b", "a", "b", "a"],
  );
  const turns = done.map((text) => Number(text.slice(1)));
  assert.equal(new Set(turns).size, turns.length);
  work("c", 0);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.equal(done.length, 6);
});
