import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { historyOf, SPIKE_FLOOR, usualOf, WINDOW_MS } from "./spikes.ts";

test("the history of a window is the hour before it and the same hour of seven days", () => {
  const start = Date.UTC(2026, 0, 15, 10, 25);
  const history = historyOf(start);
  assert.equal(history.length, 8);
  assert.deepEqual(history[0], { fromMs: Date.UTC(2026, 0, 15, 9, 25), toMs: start });
  assert.deepEqual(history[1], { fromMs: Date.UTC(2026, 0, 14, 10), toMs: Date.UTC(2026, 0, 14, 11) });
  assert.deepEqual(history[7], { fromMs: Date.UTC(2026, 0, 8, 10), toMs: Date.UTC(2026, 0, 8, 11) });
  for (const { fromMs, toMs } of history) assert.equal((toMs - fromMs) % WINDOW_MS, 0);
});

test("normal traffic: neither counts below the floor nor a zone's constant level are a spike", () => {
  assert.ok(SPIKE_FLOOR > usualOf([]).limit, "without a history the floor alone decides");
  assert.ok(SPIKE_FLOOR - 1 <= usualOf([]).limit);
  const steady = Array.from({ length: 96 }, (_, i) => 1000 + (i % 7) * 10);
  assert.ok(usualOf(steady).limit > 1060);
  assert.ok(usualOf(steady).limit < 1300);
  const restless = Array.from({ length: 96 }, (_, i) => (i % 12 === 0 ? 5000 : 100));
  assert.ok(usualOf(restless).limit > 5000, "bursts that come every hour are usual");
});

test("a larger history value never makes the limit smaller than the mean, and scaling up keeps a spike a spike", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100_000), { maxLength: 96 }), (samples) => {
      const { mean, limit } = usualOf(samples);
      assert.ok(Number.isFinite(limit));
      assert.ok(limit >= mean && limit >= SPIKE_FLOOR - 1);
      assert.ok(samples.length === 0 || mean <= Math.max(...samples));
    }),
    { numRuns: 200 },
  );
});
