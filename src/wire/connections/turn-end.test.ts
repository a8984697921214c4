import assert from "node:assert/strict";
import { test } from "node:test";
import { atTurnEnd, inOneTurn } from "./turn-end.ts";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a turn that comes before tasks were due does them, and leaves what they add to the next one", async () => {
  const done: string[] = [];
  const second = { onTurnEnd: () => void done.push("second") };
  const first = {
    onTurnEnd: () => {
      done.push("first");
      atTurnEnd(second);
    },
  };
  atTurnEnd(first);
  const turn = nextTurn();
  inOneTurn(() => done.push("work"));
  assert.deepEqual(done, ["work", "first"]);
  await turn;
  assert.deepEqual(done, ["work", "first"]);
  await nextTurn();
  assert.deepEqual(done, ["work", "first", "second"]);
});

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
