import assert from "node:assert/strict";
import { test } from "node:test";
import { createNotifyQueue, NOTICE_GAP_MS, NOTICE_WAITS_MS } from "./notify-queue.ts";

/** Notices whose tries end when the test says so. */
function fixture() {
  const tries: { notice: string; timeoutMs: number; end: (heard: boolean) => void; fail: () => void }[] = [];
  const gaveUp: string[] = [];
  const slept: { ms: number; wake: () => void }[] = [];
  const notices = createNotifyQueue<string>({
    tell: (notice, timeoutMs) =>
      new Promise((resolve, reject) => tries.push({ notice, timeoutMs, end: resolve, fail: () => reject(new Error("no socket")) })),
    gaveUp: (notice) => gaveUp.push(notice),
    sleep: (ms) => new Promise((wake) => slept.push({ ms, wake })),
  });
  const settle = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  /** Ends the last try and gives how many there have been. */
  const answer = async (heard: boolean): Promise<number> => {
    tries.at(-1)?.end(heard);
    await settle();
    return tries.length;
  };
  return { notices, tries, gaveUp, slept, settle, answer };
}

test("a change is sent at once, and further changes are sent together after a pause", async () => {
  const { notices, tries, slept, settle, answer } = fixture();
  notices.give("k", "one");
  assert.equal(tries.length, 1);
  for (const notice of ["two", "three"]) notices.give("k", notice);
  assert.equal(await answer(true), 1);
  // One sleep would end the wait for the answer, the other one is the pause behind it.
  assert.deepEqual(
    slept.map(({ ms }) => ms),
    [NOTICE_GAP_MS, NOTICE_GAP_MS],
  );
  slept[1]?.wake();
  await settle();
  assert.deepEqual(
    tries.map(({ notice }) => notice),
    ["one", "three"],
  );
  await answer(true);
  assert.equal(notices.open, 0);
  notices.give("k", "four");
  assert.equal(tries.at(-1)?.notice, "four");
});

test("retries have growing delays and stop after the last", async () => {
  const { notices, tries, gaveUp, settle, answer } = fixture();
  notices.give("k", "one");
  tries[0]?.fail();
  await settle();
  for (let i = 2; i <= NOTICE_WAITS_MS.length; i++) assert.equal(await answer(false), Math.min(i + 1, NOTICE_WAITS_MS.length));
  assert.deepEqual(
    tries.map(({ timeoutMs }) => timeoutMs),
    NOTICE_WAITS_MS,
  );
  assert.deepEqual([gaveUp, notices.open], [["one"], 0]);
});

test("a change during a wait ends it soon, and restarts the delays", async () => {
  const { notices, tries, gaveUp, slept, settle, answer } = fixture();
  notices.give("k", "one");
  await answer(false);
  assert.equal(await answer(false), 3);
  notices.give("k", "two");
  notices.give("k", "three");
  await settle();
  assert.deepEqual([tries.length, slept.map(({ ms }) => ms)], [3, [NOTICE_GAP_MS]]);
  slept[0]?.wake();
  await settle();
  assert.deepEqual(
    tries.map(({ notice, timeoutMs }) => [notice, timeoutMs]),
    [
      ["one", NOTICE_WAITS_MS[0]],
      ["one", NOTICE_WAITS_MS[1]],
      ["one", NOTICE_WAITS_MS[2]],
      ["three", NOTICE_WAITS_MS[0]],
    ],
  );
  // The answer to what was told before is none to the news.
  tries[2]?.end(true);
  await settle();
  assert.equal(notices.open, 1);
  await answer(true);
  assert.deepEqual([gaveUp, notices.open], [[], 0]);
});

test("nothing is sent after close", async () => {
  const { notices, tries, gaveUp, answer } = fixture();
  notices.give("k", "one");
  notices.close();
  notices.give("l", "two");
  assert.equal(await answer(false), 1);
  assert.deepEqual([gaveUp, notices.open, tries.length], [[], 0, 1]);
});
