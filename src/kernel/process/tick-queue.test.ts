import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { afterSends, atTickEnd, runDeferredTasks, inOneTick } from "./tick-queue.ts";

/** One after which nothing has come. */
const inTurn = (work: () => void): void =>
  inOneTick(
    () => {
      work();
      return true;
    },
    () => false,
  );

/**
 * The tasks that ran, with "over" at the end of the turn that ran the first one. Sockets of other tests may cause turns
 * at any time.
 */
function diary() {
  const done: string[] = [];
  const task = (name: string, then: () => void = () => undefined) => ({
    onTickEnd: () => {
      done.push(name);
      then();
    },
  });
  const first = task("first", () => {
    atTickEnd(task("of the first"));
    queueMicrotask(() => done.push("over"));
  });
  return { done, task, first };
}

test("a tick runs tasks that were added before it, and tasks that they add run in the next tick", async () => {
  const { done, first } = diary();
  atTickEnd(first);
  inTurn(() => done.push("work"));
  assert.deepEqual(done, ["work", "first"]);
  await eventually(() => done.length >= 4);
  assert.deepEqual(done, ["work", "first", "over", "of the first"]);
});

test("tasks run once each in the order in which they were added, and tasks that they add run in the next tick", async () => {
  const { done, task, first } = diary();
  atTickEnd(first);
  atTickEnd(task("second"));
  await Promise.resolve();
  assert.deepEqual(done, []);
  await eventually(() => done.length >= 4);
  assert.deepEqual(done, ["first", "second", "over", "of the first"]);
});

test("deferred tasks run after the tasks at the end of the tick, or on request, and are refused outside a tick", () => {
  const done: string[] = [];
  const late = (name: string) => ({ onAllSent: () => void done.push(name) });
  assert.equal(afterSends(late("refused")), false);
  inTurn(() => {
    assert.equal(afterSends(late("early")), true);
    runDeferredTasks();
    afterSends(late("late"));
    atTickEnd({ onTickEnd: () => done.push("end") });
    done.push("work");
  });
  assert.deepEqual(done, ["early", "work", "end", "late"]);
});

test("before deferred tasks, the tick checks for new input a limited number of times and runs its tasks", () => {
  for (const [comes, looks] of [
    [0, 1],
    [1, 2],
    [2, 3],
    [99, 4],
  ] as const) {
    const done: string[] = [];
    let left: number = comes;
    inOneTick(
      () => {
        assert.ok(afterSends({ onAllSent: () => void done.push("late") }));
        return true;
      },
      () => {
        done.push("look");
        if (left-- === 0) return false;
        atTickEnd({ onTickEnd: () => void done.push("end") });
        assert.ok(afterSends({ onAllSent: () => void done.push("late") }));
        return true;
      },
    );
    const busy = Math.min(comes, looks);
    const expected = Array.from({ length: looks }, (_, look) => (look < busy ? ["look", "end"] : ["look"]));
    assert.deepEqual(done, [...expected.flat(), ...Array.from({ length: busy + 1 }, () => "late")]);
  }
});

test("without new input, or without deferred tasks, the tick makes no further check", () => {
  for (const [hadEvents, isLate] of [
    [false, true],
    [true, false],
  ]) {
    let tasks = 0;
    inOneTick(
      () => {
        if (isLate) afterSends({ onAllSent: () => void tasks++ });
        return hadEvents!;
      },
      () => assert.fail("looked"),
    );
    assert.equal(tasks, isLate ? 1 : 0);
  }
});

test("deferred tasks run even if the work or a check throws", () => {
  for (const [work, lookAgain] of [
    [true, false],
    [false, true],
  ]) {
    let tasks = 0;
    const thrower = (throws: boolean) => (): boolean => {
      afterSends({ onAllSent: () => void tasks++ });
      if (throws) throw new Error("thrown");
      return true;
    };
    assert.throws(() => inOneTick(thrower(work!), thrower(lookAgain!)), /thrown/);
    assert.equal(tasks, work ? 1 : 2);
  }
});
