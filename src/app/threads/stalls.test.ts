import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createStalls } from "./stalls.ts";

test("a stall is logged, counted, and shown to the operator for an hour", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const metrics = createMetrics();
  const logged: object[] = [];
  const add = (fields: object, message: string): void => void logged.push({ ...fields, message });
  const stalls = createStalls({ clock, metrics, log: { warn: add, error: add } as never });
  t.after(() => stalls.close());
  const memory = new SharedArrayBuffer(16 + 64);
  const numbers = new Int32Array(memory);
  stalls.watch("nameserver-1", memory);
  const look = (): void => {
    clock.advance(900);
    t.mock.timers.tick(500);
  };
  for (let looks = 0; looks < 3; looks++) look();
  assert.equal(logged.length, 1);
  assert.deepEqual(stalls.list(), []);
  numbers[3] = 2_500;
  numbers[0] = 1;
  look();
  assert.deepEqual(
    logged.map((line) => (line as { readonly message: string }).message),
    ["thread is unresponsive", "thread is responsive again"],
  );
  const counted = metrics.samples().find(({ name }) => name === "selvedge_thread_stalls_total");
  assert.deepEqual([counted?.labels, counted?.value], [{ thread: "nameserver-1" }, 1]);
  assert.match(
    stalls.list()[0] ?? "",
    /^thread nameserver-1 did not respond for \d+\.\d s until 2026-01-01T00:00:\d\d\.\d{3}Z; last started: nothing$/,
  );
  // One that has not had the processor is counted, and says nothing of its work.
  for (let looks = 0; looks < 3; looks++) look();
  assert.equal(logged.length, 3);
  numbers[0] = 2;
  look();
  assert.equal(metrics.samples().find(({ name }) => name === "selvedge_thread_stalls_total")?.value, 2);
  assert.deepEqual((logged[3] as { readonly cpu_ms: number }).cpu_ms, 0);
  clock.advance(3_600_001);
  assert.deepEqual(stalls.list(), []);
});
