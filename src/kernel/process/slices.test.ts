import assert from "node:assert/strict";
import { test } from "node:test";
import { createSlices, finish, type Work } from "./slices.ts";

function* work(name: string, pieces: number, units: number, told: string[]): Work<string> {
  for (let i = 0; i < pieces; i++) {
    told.push(name);
    yield units;
  }
  return name;
}

/** Turns that a test takes by itself. */
function turns() {
  const due: (() => void)[] = [];
  return {
    slices: createSlices((turn) => void due.push(turn)),
    take: (): boolean => {
      const turn = due.shift();
      turn?.();
      return turn !== undefined;
    },
  };
}

test("a task runs for one slice per tick, and two tasks alternate", () => {
  const { slices, take } = turns();
  const told: string[] = [];
  const done: string[] = [];
  for (const name of ["a", "b"])
    slices.start(
      work(name, 12, 1_000, told),
      (result) => done.push(result),
      (error) => assert.fail(String(error)),
    );
  const turnsOf: string[] = [];
  do turnsOf.push(told.splice(0).join(""));
  while (take());
  assert.deepEqual(turnsOf, ["aaaaa", "aaaaa", "bbbbb", "aabbb", "bbbb", ""]);
  assert.deepEqual(done, ["a", "b"]);
});

test("several tasks that fit into one slice run in the same tick", () => {
  const { slices, take } = turns();
  const done: string[] = [];
  for (const name of ["a", "b", "c"])
    slices.start(
      work(name, 2, 1_500, []),
      (result) => done.push(result),
      (error) => assert.fail(String(error)),
    );
  assert.deepEqual(done, ["a"]);
  while (take());
  assert.deepEqual(done, ["a", "b", "c"]);
});

test("a task that throws fails alone", async () => {
  const slices = createSlices();
  // oxlint-disable-next-line require-yield -- it fails at once
  function* failing(): Work<void> {
    throw new Error("no");
  }
  const other = slices.run(work("other", 20, 1_000, []));
  await assert.rejects(slices.run(failing()), /no/);
  assert.equal(await other, "other");
  assert.equal(finish(work("all at once", 20, 1_000, [])), "all at once");
});
