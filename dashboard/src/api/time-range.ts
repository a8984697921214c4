import { nowMs } from "./now.ts";
import { useAddress } from "./search.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The intervals that analytics cut times to, and the longest span each is drawn for. */
const STEPS = [
  { dimension: "datetimeMinute", ms: MINUTE_MS, upToMs: 150 * MINUTE_MS },
  { dimension: "datetimeFiveMinutes", ms: 5 * MINUTE_MS, upToMs: 750 * MINUTE_MS },
  { dimension: "datetimeFifteenMinutes", ms: 15 * MINUTE_MS, upToMs: 36 * 60 * MINUTE_MS },
  { dimension: "datetimeHour", ms: 60 * MINUTE_MS, upToMs: 8 * DAY_MS },
  { dimension: "datetimeSixHours", ms: 360 * MINUTE_MS, upToMs: Number.POSITIVE_INFINITY },
] as const;

export const SPANS = [
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["24h", "Last 24 hours"],
  ["today", "Today"],
  ["yesterday", "Yesterday"],
  ["7d", "Last 7 days"],
  ["30d", "Last 30 days"],
] as const;
type Span = (typeof SPANS)[number][0];

const LENGTHS_MS: Readonly<Record<Exclude<Span, "today" | "yesterday">, number>> = {
  "1h": 60 * MINUTE_MS,
  "6h": 360 * MINUTE_MS,
  "24h": DAY_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
};

/** From `sinceMs` up to, and without, `untilMs`: whole steps of a chart. */
export interface TimeRange {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
  /** Of analytics: the time cut to the step. */
  readonly dimension: (typeof STEPS)[number]["dimension"];
  /** Empty for a range that was drawn in a chart. */
  readonly span: Span | "";
}

/** Local midnight so many days ago. */
function midnightMs(daysAgo: number): number {
  const date = new Date(nowMs());
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() - daysAgo);
  return date.getTime();
}

function boundsOf(span: Span): readonly [number, number] {
  if (span === "yesterday") return [midnightMs(1), midnightMs(0)];
  const now = nowMs();
  return [span === "today" ? midnightMs(0) : now - LENGTHS_MS[span], now];
}

export function rangeOf(fromMs: number, toMs: number, span: Span | ""): TimeRange {
  const length = Math.max(toMs - fromMs, MINUTE_MS);
  const { dimension, ms: stepMs } = STEPS.find(({ upToMs }) => length <= upToMs) ?? STEPS[4];
  const sinceMs = Math.floor(fromMs / stepMs) * stepMs;
  return { sinceMs, untilMs: Math.max(Math.ceil(toMs / stepMs) * stepMs, sinceMs + stepMs), stepMs, dimension, span };
}

/** The time of a page: `time` in its address names a span; `since` and `until` are what was drawn in a chart. */
export function useTimeRange(usual: Span = "24h"): TimeRange {
  const [{ time, since, until }] = useAddress();
  const [from, to] = [Date.parse(since ?? ""), Date.parse(until ?? "")];
  if (from < to) return rangeOf(from, to, "");
  const span = SPANS.find(([id]) => id === time)?.[0] ?? usual;
  return rangeOf(...boundsOf(span), span);
}

export const isoOf = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");

/** The range as GraphQL's filters name it. */
export const filterOf = ({ sinceMs, untilMs }: TimeRange): Readonly<Record<string, string>> => ({
  datetime_geq: isoOf(sinceMs),
  datetime_lt: isoOf(untilMs),
});

/** Values by name and step, zero where there are none; `ts` of a group is the beginning of its step. */
export function seriesOf<G extends { readonly dimensions: { readonly ts: string } }>(
  groups: readonly G[],
  { sinceMs, untilMs, stepMs }: TimeRange,
  nameOf: (group: G) => string,
  valueOf: (group: G) => number,
): ReadonlyMap<string, readonly number[]> {
  const length = Math.round((untilMs - sinceMs) / stepMs);
  const series = new Map<string, number[]>();
  for (const group of groups) {
    const at = Math.floor((Date.parse(group.dimensions.ts) - sinceMs) / stepMs);
    if (at < 0 || at >= length) continue;
    const name = nameOf(group);
    let values = series.get(name);
    if (!values) series.set(name, (values = Array.from({ length }, () => 0)));
    values[at] = (values[at] ?? 0) + valueOf(group);
  }
  return series;
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
