import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import type { BusHead } from "./bus-message.ts";
import { createHeadOrder } from "./head-order.ts";

const START_MS = 1_800_000_000_000;
const head = (time?: number): BusHead => ({ history: "h", rev: 1, ...(time === undefined ? {} : { time }) }) as BusHead;

test("a process that has just started takes no old heartbeat while control's own arrive", () => {
  const clock = fixedClock(START_MS);
  const isNewer = createHeadOrder(clock);
  for (let i = 0; i < 50; i++) {
    assert.equal(isNewer(head(START_MS - 3_600_000)), false);
    assert.equal(isNewer(head()), false, "of version 0.1.0");
    clock.advance(50);
  }
  assert.equal(isNewer(head(START_MS + 1_000)), true);
  assert.equal(isNewer(head(START_MS + 1_000)), false);
  assert.equal(isNewer(head(START_MS + 2_000)), true);
});

test("heartbeats of a control whose clock is far behind count after five seconds", () => {
  for (const time of [START_MS - 3_600_000, undefined]) {
    const clock = fixedClock(START_MS);
    const isNewer = createHeadOrder(clock);
    assert.equal(isNewer(head(time)), false);
    clock.advance(5_000);
    assert.equal(isNewer(head(time === undefined ? time : time + 5_000)), true);
    clock.advance(1_000);
    if (time !== undefined) assert.equal(isNewer(head(time + 6_000)), true);
  }
});
