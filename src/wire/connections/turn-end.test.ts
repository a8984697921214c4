import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { afterSends, atTurnEnd, doLateTasks, inOneTurn } from "./turn-end.ts";

/** What was done, with "over" where the turn that did the first task had ended. Sockets of other tests may bring turns at any time. */
function diary() {
  const done: string[] = [];
  const task = (name: string, then: () => void = () => undefined) => ({
    onTurnEnd: () => {
      done.push(name);
      then();
    },
  });
  const first = task("first", () => {
    atTurnEnd(task("of the first"));
    queueMicrotask(() => done.push("over"));
  });
  return { done, task, first };
}

test("a turn that comes before tasks were due does them, and leaves what they add to the next one", async () => {
  const { done, first } = diary();
  atTurnEnd(first);
  inOneTurn(() => done.push("work"));
  assert.deepEqual(done, ["work", "first"]);
  await eventually(() => done.length >= 4);
  assert.deepEqual(done, ["work", "first", "over", "of the first"]);
});

test("tasks are done once each in the order in which they were added; what they add comes in the next turn", async () => {
  const { done, task, first } = diary();
  atTurnEnd(first);
  atTurnEnd(task("second"));
  await Promise.resolve();
  assert.deepEqual(done, []);
  await eventually(() => done.length >= 4);
  assert.deepEqual(done, ["first", "second", "over", "of the first"]);
});

test("what is for after the sends of a turn is done after what its end brings, or when it is asked for; outside of a turn it is refused", () => {
  const done: string[] = [];
  const late = (name: string) => ({ onAllSent: () => void done.push(name) });
  assert.equal(afterSends(late("refused")), false);
  inOneTurn(() => {
    assert.equal(afterSends(late("early")), true);
    doLateTasks();
    afterSends(late("late"));
    atTurnEnd({ onTurnEnd: () => done.push("end") });
    done.push("work");
  });
  assert.deepEqual(done, ["early", "work", "end", "late"]);
});
