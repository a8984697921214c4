import assert from "node:assert/strict";
import { test } from "node:test";
import { createMessageTurns } from "./message-turns.ts";

test("connections with many messages share a number for each tick, and take turns", async () => {
  const turns = createMessageTurns(4);
  const ticks: string[] = [];
  let tick = "";
  const serve = (name: string, count: number): void => {
    let left = count;
    const work = (): void => {
      while (left > 0) {
        if (!turns.take()) return turns.wait(work);
        left -= 1;
        tick += name;
      }
    };
    work();
  };
  serve("a", 10);
  serve("b", 3);
  serve("c", 1);
  while (ticks.join("").length < 14) {
    ticks.push(tick);
    tick = "";
    await new Promise(setImmediate);
  }
  assert.deepEqual(ticks, ["aaaa", "aaaa", "bbbc", "aa"]);
  // Work that needs no message of a tick leaves them to the next.
  turns.wait(() => serve("d", 0));
  turns.wait(() => serve("e", 1));
  await new Promise(setImmediate);
  assert.equal(tick, "e");
});

test("a turn that needs more than is left of a tick takes it from later ticks", async () => {
  const turns = createMessageTurns(10);
  turns.spend(35);
  let ticks = 0;
  let isDone = false;
  turns.wait(() => (isDone = true));
  while (!isDone) {
    ticks += 1;
    await new Promise(setImmediate);
  }
  assert.equal(ticks, 3);
  assert.ok(turns.isLeft());
  assert.ok(turns.take());
});
