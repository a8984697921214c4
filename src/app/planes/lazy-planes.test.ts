import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Delta, Op } from "#snapshot/entries.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { createLazyPlanes, type LazyPlanes, mayContain } from "./lazy-planes.ts";
import type { Log } from "#app/log/log.ts";

const log = { error() {} } as unknown as Log;
/** Beyond what a test takes. */
const LONG_MS = 60_000;

/** Planes whose starts end as the test says: each takes the next outcome, and waits for it. */
function planes(t: TestContext): {
  readonly late: LazyPlanes;
  readonly seen: readonly string[];
  readonly starts: readonly PromiseWithResolvers<void>[];
} {
  const seen: string[] = [];
  const starts: PromiseWithResolvers<void>[] = [];
  const late = createLazyPlanes({
    name: "planes",
    log,
    retryMs: 1,
    start: () => {
      seen.push("start");
      const start = Promise.withResolvers<void>();
      starts.push(start);
      return start.promise;
    },
    undo: async () => void seen.push("undo"),
  });
  t.after(() => late.stop());
  return { late, seen, starts };
}

test("the planes start once, whatever wakes them, and waiting callers learn when they serve", async (t) => {
  const { late, seen, starts } = planes(t);
  assert.deepEqual([late.isIdle(), late.isWaking(), await late.awake(LONG_MS)], [true, false, false]);
  late.wake();
  assert.equal(late.isIdle(), false);
  late.wake();
  assert.equal(late.isWaking(), true);
  assert.equal(await late.awake(1), false);
  const served = late.awake(LONG_MS);
  starts[0]?.resolve();
  assert.deepEqual([await served, late.isWaking(), seen], [true, false, ["start"]]);
  late.wake();
  assert.deepEqual(seen, ["start"]);
});

test("a failed start is undone and repeated", async (t) => {
  const { late, seen, starts } = planes(t);
  late.wake();
  starts[0]?.reject(new Error("no memory"));
  await eventually(() => starts.length === 2);
  assert.equal(late.isWaking(), true);
  starts[1]?.resolve();
  assert.equal(await late.awake(LONG_MS), true);
  assert.deepEqual(seen, ["start", "undo", "start"]);
});

test("after a stop the planes do not start, and the caller of stop gets a failed start", async (t) => {
  const { late, seen, starts } = planes(t);
  late.wake();
  late.stop();
  starts[0]?.reject(new Error("ended"));
  assert.equal(await late.awake(LONG_MS), false);
  assert.deepEqual(seen, ["start"]);
  const never = planes(t);
  never.late.stop();
  never.late.wake();
  assert.deepEqual(never.seen, []);
});

test("a delta with a zone adds zones, and missing deltas may add some", () => {
  const delta = (...ops: readonly unknown[]): Delta => ({ from: 1, rev: 2, ops: ops as readonly Op[] });
  assert.equal(mayContain("zone", null), true);
  assert.equal(mayContain("zone", delta({ kind: "token", id: "a", value: {} }, { kind: "zone", id: "b", value: {} })), true);
  assert.equal(mayContain("zone", delta({ kind: "zone", id: "b", value: null })), false);
  assert.equal(mayContain("zone", delta({ kind: "gateway", id: "a", value: {} })), false);
});
