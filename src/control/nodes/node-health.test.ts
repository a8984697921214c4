import assert from "node:assert/strict";
import { test } from "node:test";
import { createNodeHealth, LEAVES_AFTER_MS, RETURNS_AFTER_MS } from "./node-health.ts";

const SECOND = 1_000;

/** Looks each second; `at` says which nodes are well in that second. */
function run(seconds: number, at: (second: number) => Readonly<Record<string, boolean>>, isDeaf = (_second: number) => false) {
  const health = createNodeHealth(() => true);
  return Array.from({ length: seconds }, (_, second) =>
    [...health.look(new Map(Object.entries(at(second))), second * SECOND, isDeaf(second))].join(),
  );
}

test("a node leaves some time after it was well, and returns when it has been well for longer", () => {
  const leaves = LEAVES_AFTER_MS / SECOND;
  const returns = RETURNS_AFTER_MS / SECOND;
  const seen = run(80, (second) => ({ a: true, b: second < 5 || second >= 40 }));
  assert.deepEqual([seen[4 + leaves - 1], seen[4 + leaves], seen[40 + returns - 1], seen[40 + returns]], ["a,b", "a", "a", "a,b"]);
});

test("a node that comes and goes stays away, and one that is late once stays", () => {
  const flaps = run(120, (second) => ({ a: second < 5 || second % 12 === 0, b: second % 9 < 8 }));
  assert.equal(flaps.at(-1), "b");
  assert.ok(flaps.every((names) => names.includes("b")));
});

test("silence means nothing while nothing can be heard, and after a pause of the process", () => {
  const deaf = run(
    60,
    () => ({ a: false }),
    (second) => second < 40,
  );
  assert.deepEqual([deaf[45], deaf[39 + LEAVES_AFTER_MS / SECOND]], ["a", ""]);
  const health = createNodeHealth(() => true);
  health.look(new Map([["a", true]]), 0, false);
  assert.deepEqual([...health.look(new Map([["a", false]]), 60 * SECOND, false)], ["a"], "this process was frozen");
  assert.deepEqual([...health.look(new Map(), 61 * SECOND, false)], []);
});
