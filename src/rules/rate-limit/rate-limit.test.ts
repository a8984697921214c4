import assert from "node:assert/strict";
import { test } from "node:test";
import { machineMs } from "#kernel/clock.ts";
import type { RuleDefinition } from "#rules/definition.ts";
import type { RequestView } from "#rules/views.ts";
import { createCounterMemory, createCounterTable } from "./counter-table.ts";
import { compileLimit } from "./rate-limit.ts";

const HOUR_MS = 3_600_000;

test("a limit neither begins again nor lasts when the wall clock is set, with and without a time in which a client is blocked", () => {
  for (const mitigation_timeout of [0, 10])
    for (const stepMs of [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS]) {
      let [ranMs, wallMs] = [machineMs(), 1_700_000_000_000];
      const counters = createCounterTable(createCounterMemory(64, ranMs), () => ranMs);
      const ratelimit = { characteristics: ["cf.colo.id"], period: 10, requests_per_period: 3, mitigation_timeout };
      const rule = { id: "r", expression: "true", action: "block", ratelimit } as unknown as RuleDefinition;
      const limit = compileLimit(rule, { id: "s", phase: "http_ratelimit" }, counters, {});
      const trips = (): boolean => limit.trips({ at_ms: wallMs } as RequestView, true, []);
      assert.deepEqual([trips(), trips(), trips(), trips()], [false, false, false, true]);
      wallMs += stepMs;
      assert.equal(trips(), true, `after ${stepMs} ms`);
      ranMs += 30_000;
      assert.equal(trips(), false, `long after ${stepMs} ms`);
    }
});
