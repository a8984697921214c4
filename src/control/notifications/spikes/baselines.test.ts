import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventCounts } from "./event-counts.ts";
import { createBaselines } from "./baselines.ts";
import { historyOf, WINDOW_MS } from "./spikes.ts";
import type { Subject } from "./subjects.ts";

const START = Date.UTC(2026, 0, 15, 10, 25);
const MINUTE_MS = 60_000;

/** Counts tell when their window begins. */
function counting() {
  const asked: number[] = [];
  let fails = false;
  const counts: EventCounts = {
    inWindow: async () => [],
    requests: async () => 0,
    windows: async (_kind, _zone, _service, fromMs, toMs) => {
      if (fails) throw new Error("away");
      asked.push(fromMs);
      return Array.from({ length: (toMs - fromMs) / WINDOW_MS }, (_, n) => fromMs + n * WINDOW_MS);
    },
  };
  return { asked, counts, fail: (so: boolean) => void (fails = so) };
}

const subject = (key: string): Subject => ({ kind: "security_events", key, zone: { id: key } as never, service: null, count: 0 });
const wanted = (startMs: number): readonly number[] =>
  historyOf(startMs).flatMap(({ fromMs, toMs }) => Array.from({ length: (toMs - fromMs) / WINDOW_MS }, (_, n) => fromMs + n * WINDOW_MS));

test("a cached history equals a full read each time, and days are read once an hour", async () => {
  const { asked, counts } = counting();
  const histories = createBaselines(counts);
  const questions: number[] = [];
  for (let minute = 0; minute < 100; minute++) {
    const startMs = START + minute * MINUTE_MS;
    const before = asked.length;
    for (const key of ["one", "two"]) assert.deepEqual(await histories.of(subject(key), startMs), wanted(startMs));
    questions.push(asked.length - before);
  }
  assert.deepEqual(
    questions.map((count, minute) => [count, minute]).filter(([count]) => count !== 2),
    [
      [16, 0],
      [16, 35],
      [16, 95],
    ],
  );
});

test("a failed read is repeated", async () => {
  const { counts, fail } = counting();
  const histories = createBaselines(counts);
  fail(true);
  await assert.rejects(histories.of(subject("one"), START), /away/);
  fail(false);
  assert.deepEqual(await histories.of(subject("one"), START), wanted(START));
});
