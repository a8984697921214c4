import assert from "node:assert/strict";
import { getPriority, release } from "node:os";
import { test } from "node:test";
import { loadTimeSlices } from "./time-slices.ts";

const slices = await loadTimeSlices();
/** Since then a thread's wish for its slices is heard. */
const hears = (([major = 0, minor = 0]) => major > 6 || (major === 6 && minor >= 12))(release().split(".").map(Number));

test("a thread that asks for short slices has them, and its priority as before", { skip: !slices && "koffi does not load here" }, () => {
  assert.ok(slices);
  const priority = getPriority();
  assert.equal(slices.askFor(100_000), true);
  assert.equal(slices.sliceNs(), hears ? 100_000 : 0);
  assert.equal(slices.askFor(2_000_000), true);
  assert.equal(slices.sliceNs(), hears ? 2_000_000 : 0);
  assert.equal(getPriority(), priority);
});
