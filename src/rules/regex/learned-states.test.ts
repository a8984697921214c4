import assert from "node:assert/strict";
import { test } from "node:test";
import { createStatePool, GROUP_BYTES_MAX, type Learner, statePool } from "./learned-states.ts";
import { createRegexTable } from "./regex-table.ts";

/** Learns this much at each use. */
function learner(): Learner & { learn(bytes: number): void } {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    learn: (more) => (bytes += more),
    forget: () => (bytes = 0),
  };
}

test("a group above its memory limit drops its states, and above a thread's limit the largest group does", () => {
  const pool = createStatePool(100, 50);
  const [a, b, c] = [pool.createGroup(), pool.createGroup(), pool.createGroup()];
  const uses = (group: typeof a, one: ReturnType<typeof learner>, bytes: number): void => {
    one.learn(bytes);
    group.learned(one);
  };
  const [first, second] = [learner(), learner()];
  uses(a, first, 30);
  uses(a, second, 20);
  assert.deepEqual([a.bytes, pool.bytes], [50, 50]);
  uses(a, second, 1);
  assert.deepEqual([first.bytes, second.bytes, a.bytes, pool.bytes], [0, 0, 0, 0]);
  uses(a, first, 40);
  uses(b, learner(), 45);
  uses(c, learner(), 15);
  assert.equal(pool.bytes, 100);
  uses(c, learner(), 5);
  assert.deepEqual([a.bytes, b.bytes, c.bytes, pool.bytes], [40, 0, 20, 60], "who knows less goes on");
});

test("the automata of a ruleset's patterns share one memory limit, for any texts", () => {
  const table = createRegexTable();
  // Each needs another state for each of the last characters of the text.
  const tests = Array.from({ length: 20 }, (_, i) => table.test(`${i % 10}(?:[ab]|${i}c)*a[ab]{12}x`));
  assert.ok(tests.every(({ engine }) => engine === "automaton"));
  let state = 1;
  let forgot = 0;
  let most = 0;
  for (const [i, one] of tests.entries()) {
    let text = `${i % 10}`;
    for (let at = 0; at < 3_000; at++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      text += (state >>> 16) & 1 ? "a" : "b";
    }
    const before = table.states.bytes;
    one.test(`${text}x`);
    if (table.states.bytes < before) forgot += 1;
    most = Math.max(most, table.states.bytes);
  }
  assert.ok(forgot > 0, "they have learned as much as they may");
  assert.ok(most <= GROUP_BYTES_MAX, `${most} bytes`);
  assert.ok(statePool.bytes >= table.states.bytes);
  assert.equal(createRegexTable(undefined, table).states, table.states, "a version that follows goes on with them");
  assert.equal(table.states.bytes, 0);
});
