import assert from "node:assert/strict";
import { test } from "node:test";
import { systemCall } from "#control/call.ts";
import { fixedClock } from "#kernel/clock.ts";
import type { Analytics } from "./analytics.ts";
import { createDnsReports } from "./dns-report.ts";

const START_MS = Date.parse("2026-11-01T00:00:00Z");
const NAMES = 10_000;

test("a report of many names in many intervals has a bounded number of values, the largest rows first", async () => {
  const groups: Analytics["groups"] = async (_call, _scope, _dataset, { dimensions }) =>
    Array.from({ length: dimensions.length === 0 ? 1 : NAMES }, (_, n) => ({
      count: n + 1,
      sampleInterval: 1,
      measures: [],
      dimensions: { queryName: `n${n}.example.com`, datetimeMinute: new Date(START_MS + (n % 1_000) * 60_000).toISOString() },
    }));
  const reports = createDnsReports({ analytics: { groups } as Analytics, clock: fixedClock(START_MS + 90_000_000) });
  const call = systemCall("test");
  const query = { dimensions: "queryName", since: "2026-11-01T00:00:00Z", until: "2026-11-02T00:00:00Z", time_delta: "minute" } as const;
  const { data, rows, time_intervals } = await reports.byTime(call, "zone", query);
  assert.equal(time_intervals.length, 1_440);
  assert.equal(rows, Math.ceil(100_000 / 1_440));
  assert.equal(data[0]?.dimensions[0], `n${NAMES - 1}.example.com`);
  const [counts = []] = data[0]?.metrics ?? [];
  assert.deepEqual([counts.length, counts[999], counts.reduce((sum, count) => sum + count, 0)], [1_440, NAMES, NAMES]);
  assert.match(call.notes?.join() ?? "", /first 70 rows/);
  const table = await reports.table(call, "zone", { dimensions: "queryName", since: query.since, until: query.until });
  assert.equal(table.rows, NAMES);
});
