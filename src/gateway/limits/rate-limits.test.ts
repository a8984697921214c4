import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { fixedClock } from "#kernel/clock.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import { createRateLimits } from "./rate-limits.ts";

type Limit = NonNullable<GatewayEntry["rate_limit"]>;

const gateway = (rate_limit: Limit | undefined, gateway_id = "gw"): GatewayEntry => ({
  account_id: "a",
  gateway_id,
  authentication: false,
  collect_logs: true,
  ...(rate_limit === undefined ? {} : { rate_limit }),
});

const START = "2026-01-01T00:00:30Z";

test("a fixed window starts at a multiple of its interval", () => {
  const clock = fixedClock(START);
  const limits = createRateLimits({ clock });
  const limited = gateway({ limit: 2, interval_seconds: 60, technique: "fixed" });
  assert.deepEqual([limits.take(limited), limits.take(limited), limits.take(limited)], [0, 0, 30]);
  clock.advance(29_999);
  assert.equal(limits.take(limited), 1);
  clock.advance(1);
  assert.equal(limits.take(limited), 0);
  assert.equal(limits.take(gateway({ limit: 2, interval_seconds: 60, technique: "fixed" }, "other")), 0);
  assert.equal(limits.take(gateway(undefined)), 0);
});

test("a sliding window counts the remaining share of the previous window", () => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const limits = createRateLimits({ clock });
  const limited = gateway({ limit: 10, interval_seconds: 60, technique: "sliding" });
  for (let i = 0; i < 10; i++) assert.equal(limits.take(limited), 0);
  clock.advance(75_000);
  // A quarter of this window has passed: 7.5 of the previous ten still count.
  assert.deepEqual([limits.take(limited), limits.take(limited)], [0, 0]);
  const waitSeconds = limits.take(limited);
  assert.ok(waitSeconds > 0 && waitSeconds <= 6, String(waitSeconds));
  clock.advance(waitSeconds * 1000);
  assert.equal(limits.take(limited), 0);
});

test("a client that waits the given time passes, and no interval admits more than its limit", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 200 });
  const limit = fc.record({
    limit: fc.integer({ min: 1, max: 8 }),
    interval_seconds: fc.constantFrom(1, 10, 60),
    technique: fc.constantFrom("fixed" as const, "sliding" as const),
  });
  fc.assert(
    fc.property(steps, limit, (waits, rate_limit) => {
      const clock = fixedClock(START);
      const limits = createRateLimits({ clock });
      const limited = gateway(rate_limit);
      const passed: number[] = [];
      for (const waitMs of waits) {
        clock.advance(waitMs);
        const seconds = limits.take(limited);
        if (seconds === 0) passed.push(clock.nowMs());
        else if (waitMs % 3 === 0) {
          clock.advance(seconds * 1000);
          assert.equal(limits.take(limited), 0, `after ${seconds} s`);
          passed.push(clock.nowMs());
        }
      }
      const intervalMs = rate_limit.interval_seconds * 1000;
      const perWindow = Map.groupBy(passed, (ms) => Math.floor(ms / intervalMs));
      for (const all of perWindow.values()) assert.ok(all.length <= rate_limit.limit);
    }),
    { numRuns: 300 },
  );
});
