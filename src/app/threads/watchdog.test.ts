import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, settled } from "../../../test/support/eventually.ts";
import { type WatchLimits, watchThread } from "./watchdog.ts";

const LIMITS: WatchLimits = { everyMs: 5, cpuMs: 100, silentMs: 60_000 };

/** A thread whose answers and time a test decides. */
function thread(limits: WatchLimits = LIMITS) {
  const state = { answers: true, cpuMs: 5000, asked: 0, silent: [] as number[] };
  const stop = watchThread(
    {
      answers: async () => {
        state.asked++;
        return state.answers;
      },
      cpuMs: async () => {
        if (Number.isNaN(state.cpuMs)) throw new Error("it has ended");
        return state.cpuMs;
      },
      onSilent: (silentMs) => state.silent.push(silentMs),
    },
    limits,
  );
  return { state, stop };
}

test("a thread that computes without answering is reported once", async () => {
  const { state } = thread();
  await eventually(() => state.asked > 3);
  state.answers = false;
  await settled(20);
  state.cpuMs += 99;
  await settled(20);
  assert.deepEqual(state.silent, []);
  state.cpuMs++;
  await eventually(() => state.silent.length === 1);
  const { asked } = state;
  await settled(20);
  assert.deepEqual([state.silent.length, state.asked], [1, asked]);
  assert.ok((state.silent[0] ?? 0) > 0);
});

test("a thread without CPU time may answer late, but not forever", async () => {
  const late = thread();
  late.state.answers = false;
  await eventually(() => late.state.asked > 5);
  late.state.answers = true;
  late.state.cpuMs += 99;
  const { asked } = late.state;
  await eventually(() => late.state.asked > asked + 2);
  late.state.answers = false;
  late.state.cpuMs += 99;
  await settled(20);
  assert.deepEqual(late.state.silent, [], "what it took before it answered is forgotten");
  late.stop();
  const stuck = thread({ ...LIMITS, silentMs: 50 });
  stuck.state.answers = false;
  await eventually(() => stuck.state.silent.length === 1);
  assert.deepEqual(stuck.state.silent, [50]);
});

test("a thread that ended, or is no longer watched, is not reported", async () => {
  const [ended, left] = [thread(), thread()];
  ended.state.answers = left.state.answers = false;
  ended.state.cpuMs = Number.NaN;
  left.stop();
  left.state.cpuMs = 1e9;
  await settled(50);
  assert.deepEqual([ended.state.silent, left.state.silent, left.state.asked], [[], [], 0]);
});
