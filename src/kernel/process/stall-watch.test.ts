import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { eventually } from "../../../test/support/eventually.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { begins, begunLast, heartbeatOf, REQUEST, RULES } from "./heartbeat.ts";
import { createStallWatch, type Stall } from "./stall-watch.ts";

test("a blocked thread is reported once, with its activity, and once more when it recovers", async (t) => {
  const [stalls, overs]: [Stall[], Stall[]] = [[], []];
  const watch = createStallWatch({ clock: systemClock, onStall: (stall) => stalls.push(stall), onOver: (stall) => overs.push(stall) });
  const worker = new Worker(new URL("../testing/stalled-thread.ts", import.meta.url));
  const [memory] = (await once(worker, "message")) as [SharedArrayBuffer];
  const until = new Int32Array(new SharedArrayBuffer(4));
  t.after(async () => {
    watch.close();
    Atomics.store(until, 0, 1);
    Atomics.notify(until, 0);
    await worker.terminate();
  });
  watch.add("edge-1", memory);
  const { beats } = heartbeatOf(memory);
  await eventually(() => heartbeatOf(memory).beats > beats);
  worker.postMessage(until);
  await eventually(() => stalls.length > 0);
  Atomics.store(until, 0, 1);
  Atomics.notify(until, 0);
  await eventually(() => overs.length > 0);
  assert.deepEqual([stalls.length, overs.length], [1, 1]);
  const [stall, over] = [stalls[0]!, overs[0]!];
  assert.deepEqual([stall.thread, stall.begun, over.begun], ["edge-1", "rules ruleset-7", "rules ruleset-7"]);
  assert.deepEqual([stall.cpuMs, typeof over.cpuMs], [null, "number"]);
  assert.ok(over.stalledMs >= stall.stalledMs && stall.stalledMs > 2000);
});

test("the watch reports no thread after it was stopped itself", () => {
  const clock = fixedClock(0);
  const stalls: Stall[] = [];
  const watch = createStallWatch({ clock, onStall: (stall) => stalls.push(stall), onOver: () => assert.fail("it was not told of") });
  watch.close();
  const memory = new SharedArrayBuffer(16 + 64);
  const beats = new Int32Array(memory);
  const stop = watch.add("gateway", memory);
  clock.advance(60_000);
  watch.look();
  assert.deepEqual(stalls, []);
  beats[0] = 1;
  for (let i = 0; i < 4; i++) {
    clock.advance(500);
    watch.look();
  }
  assert.deepEqual(stalls, []);
  for (let i = 0; i < 4; i++) {
    clock.advance(500);
    watch.look();
  }
  assert.deepEqual(stalls, [{ thread: "gateway", begun: "nothing", stalledMs: 2500, cpuMs: null }]);
  stop();
  beats[0] = 2;
  watch.look();
});

test("an activity is cut to the available space and has only printable characters", () => {
  begins(REQUEST, "www.example.com");
  assert.equal(begunLast(), "request www.example.com");
  begins(RULES, `a\n\u2028${"b".repeat(100)}`);
  assert.equal(begunLast(), `rules a?(${"b".repeat(61)}`);
});
