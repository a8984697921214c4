import assert from "node:assert/strict";
import { test } from "node:test";
import { indexOf, intervalsOf } from "./time-intervals.ts";

const ms = Date.parse;
const days = (bounds: readonly number[]): string[] => bounds.map((bound) => new Date(bound).toISOString().slice(0, 10));

test("intervals cover the period and start at calendar boundaries", () => {
  const [since, until] = [ms("2026-02-11T10:17:00Z"), ms("2026-07-01T00:00:00Z")];
  const bounds = (delta: "year" | "quarter" | "month" | "week") => days(intervalsOf(delta, since, until).bounds);
  assert.deepEqual(bounds("year"), ["2026-01-01", "2027-01-01"]);
  assert.deepEqual(bounds("quarter"), ["2026-01-01", "2026-04-01", "2026-07-01"]);
  assert.deepEqual(bounds("month"), ["2026-02-01", "2026-03-01", "2026-04-01", "2026-05-01", "2026-06-01", "2026-07-01"]);
  assert.deepEqual(bounds("week").slice(0, 2), ["2026-02-09", "2026-02-16"], "Mondays");
  assert.deepEqual(intervalsOf("all", since, until), { delta: "all", field: null, bounds: [since, until] });
});

test("auto chooses an interval that suits the period, and the number of intervals is bounded", () => {
  const until = ms("2026-02-11T10:17:00Z");
  const hours = (count: number) => intervalsOf("auto", until - count * 3_600_000, until);
  assert.deepEqual(
    [1, 6, 48, 24 * 30, 24 * 365 * 3].map((count) => hours(count).delta),
    ["minute", "dekaminute", "hour", "day", "month"],
  );
  for (const count of [1, 12, 168, 9_600]) assert.ok(hours(count).bounds.length < 410);
  assert.throws(() => intervalsOf("minute", until - 30 * 3_600_000, until), { source: "/time_delta" });
});

test("each time belongs to the interval that starts at or before it", () => {
  const { bounds } = intervalsOf("month", ms("2025-12-31T23:59:59Z"), ms("2026-04-02T00:00:00Z"));
  const at = (text: string): number => indexOf(bounds, ms(text));
  assert.deepEqual([at("2025-12-01"), at("2025-12-31T23:59:59Z"), at("2026-01-01"), at("2026-03-31"), at("2026-04-01")], [0, 0, 1, 3, 4]);
});
