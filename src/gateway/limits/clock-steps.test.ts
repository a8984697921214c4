import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { adjustableClock, fixedClock } from "#kernel/clock.ts";
import { createSpendJournal, NO_JOURNAL } from "./journal.ts";
import { createSpendLedger } from "./ledger.ts";
import { createRateLimits } from "./rate-limits.ts";

const HOUR_MS = 3_600_000;
const STEPS_MS = [HOUR_MS, -HOUR_MS, 90_000, -90_000, 400 * 24 * HOUR_MS, -400 * 24 * HOUR_MS];

/** A clock that can be set beside its course. */
function settable() {
  const course = fixedClock("2026-01-01T00:30:10Z");
  const clock = adjustableClock(course);
  return { course, clock };
}

for (const technique of ["fixed", "sliding"] as const)
  test(`a ${technique} rate limit neither begins again nor lasts when the clock is set`, () => {
    for (const ms of STEPS_MS) {
      const { course, clock } = settable();
      const limits = createRateLimits({ clock });
      const take = (): number => limits.takeFor("gw", { limit: 5, interval_seconds: 60, technique });
      for (let i = 0; i < 5; i++) assert.equal(take(), 0);
      clock.setOffset(ms);
      const waitSeconds = take();
      assert.ok(waitSeconds > 0 && waitSeconds <= 120, `${ms}: ${waitSeconds}`);
      course.advance(120_000);
      assert.equal(take(), 0, `${ms}: the next window`);
    }
  });

test("a spend limit neither begins again nor lasts when the clock is set, also if the gateway restarts after it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-clock-steps-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const bound = { key: "k", limit: 1, windowMs: HOUR_MS, technique: "fixed" } as const;
  for (const [i, ms] of STEPS_MS.entries())
    for (const restarts of [false, true]) {
      const { course, clock } = settable();
      const open = () => createSpendLedger({ clock, journal: restarts ? createSpendJournal(join(folder, String(i))) : NO_JOURNAL });
      let ledger = open();
      const reservation = ledger.reserve([bound], { dollars: 1, isUpperBound: true });
      assert.ok("settle" in reservation);
      reservation.settle(1);
      clock.setOffset(ms);
      assert.equal(ledger.hasRoom(bound), false, `${ms}`);
      if (restarts && ms < 0) {
        ledger.close();
        ledger = open();
        assert.equal(ledger.hasRoom(bound), false, `${ms}, after a restart`);
        ledger.close();
        ledger = open();
      }
      course.advance(HOUR_MS);
      assert.equal(ledger.hasRoom(bound), true, `${ms}: the next window`);
      ledger.close();
    }
});
