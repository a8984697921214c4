import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { createPoller, type PollResult } from "./poller.ts";

const LONG_MS = 1_000_000;

test("the poller polls again soon after a busy poll, waits after others, and polls at once when woken", async () => {
  const finds: PollResult[] = ["much", "much", "little"];
  let looks = 0;
  const poller = createPoller({ pollMs: LONG_MS, busyPollMs: 1, poll: () => finds[looks++] ?? "nothing", sleep: () => false });
  poller.wake();
  assert.equal(looks, 1, "at once");
  await eventually(() => looks === 3);
  await delay(20);
  assert.equal(looks, 3);
  poller.wake();
  assert.equal(looks, 4, "it does not wait for its time");
  poller.hurry();
  await eventually(() => looks === 5);
  poller.stop();
});

test("the poller sleeps after several empty polls, until it is woken", async () => {
  let [looks, slept] = [0, 0];
  const poller = createPoller({ pollMs: 1, busyPollMs: 1, poll: () => (looks++ === 3 ? "little" : "nothing"), sleep: () => ++slept > 0 });
  poller.wake();
  await eventually(() => slept === 1);
  const before = looks;
  assert.ok(before > 4, "what came meanwhile is reason to look on");
  await delay(20);
  assert.equal(looks, before);
  poller.wake();
  assert.equal(looks, before + 1);
  await eventually(() => slept === 2);
  poller.stop();
});
