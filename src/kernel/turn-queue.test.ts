import assert from "node:assert/strict";
import { test } from "node:test";
import { createTurnQueue } from "./turn-queue.ts";

test("owners take turns, items of one stay in order, and an owner that comes late waits for one item of each", () => {
  const queue = createTurnQueue<string>();
  for (const item of ["a1", "a2", "a3", "a4"]) queue.push("a", item);
  queue.push("b", "b1");
  const taken = [queue.take(), queue.take()];
  queue.push("c", "c1");
  queue.push("c", "c2");
  assert.deepEqual([queue.size, queue.next()], [5, "a2"]);
  while (queue.size > 0) taken.push(queue.take()!);
  assert.deepEqual(taken, ["a1", "b1", "a2", "c1", "a3", "c2", "a4"]);
  assert.deepEqual([queue.next(), queue.take(), queue.size], [undefined, undefined, 0]);
});
