import assert from "node:assert/strict";
import { test } from "node:test";
import { atTurnEnd } from "./turn-end.ts";

test("tasks are done once each in the order in which they were added; what they add comes in the next turn", async () => {
  const done: string[] = [];
  const task = (name: string, then: () => void = () => undefined) => ({
    onTurnEnd: () => {
      done.push(name);
      then();
    },
  });
  atTurnEnd(task("first", () => atTurnEnd(task("of the first"))));
  atTurnEnd(task("second"));
  await Promise.resolve();
  assert.deepEqual(done, []);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(done, ["first", "second"]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(done, ["first", "second", "of the first"]);
});
