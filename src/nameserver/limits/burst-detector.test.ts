import assert from "node:assert/strict";
import { test } from "node:test";
import { createFloodGauge } from "./burst-detector.ts";

/** The gauge's last result when this number of datagrams is received in each of the milliseconds. */
const after = (gauge: ReturnType<typeof createFloodGauge>, perMs: number, fromMs: number, toMs: number): boolean => {
  let isFlood = false;
  for (let nowMs = fromMs; nowMs < toMs; nowMs++) isFlood = gauge(perMs, nowMs);
  return isFlood;
};

test("many datagrams within a few milliseconds count as a flood, also after silence", () => {
  const gauge = createFloodGauge();
  assert.equal(after(gauge, 1, 0, 1_000), false);
  assert.equal(after(gauge, 5, 60_000, 61_000), false);
  assert.equal(after(gauge, 50, 90_000, 90_002), true);
});

test("a flood lasts through a pause of a few milliseconds, and ends at a low rate", () => {
  const gauge = createFloodGauge();
  assert.equal(after(gauge, 100, 0, 100), true);
  assert.equal(after(gauge, 100, 105, 110), true);
  assert.equal(after(gauge, 15, 110, 1_000), true, "no change of mind at half the rate");
  assert.equal(after(gauge, 5, 1_000, 1_020), false);
});
