import assert from "node:assert/strict";
import { test } from "node:test";
import type { Delta } from "./entries.ts";
import { createRecentDeltas } from "./recent.ts";

const delta = (rev: number, ops = 1): Delta => ({
  from: rev - 1,
  rev,
  ops: Array.from({ length: ops }, (_, i) => ({ kind: "serial" as const, id: `z${i}`, value: null })),
});
const revs = (deltas: readonly Delta[] | null): readonly number[] | null => deltas && deltas.map(({ rev }) => rev);

test("the list holds the newest deltas, limited by their number of changes", () => {
  const recent = createRecentDeltas(5);
  for (let rev = 1; rev <= 8; rev++) recent.push(delta(rev));
  assert.equal(recent.after(2), null);
  assert.deepEqual(revs(recent.after(3)), [4, 5, 6, 7, 8]);
  assert.deepEqual(revs(recent.after(7)), [8]);
  assert.equal(recent.after(8), null);
  recent.push(delta(9, 4));
  assert.deepEqual(revs(recent.after(7)), [8, 9]);
  assert.equal(recent.after(6), null);
  recent.push(delta(10, 6));
  assert.equal(recent.after(9), null, "one that is larger than all is not kept");
  recent.push(delta(11));
  assert.deepEqual(revs(recent.after(10)), [11]);
  recent.clear();
  assert.equal(recent.after(10), null);
});
