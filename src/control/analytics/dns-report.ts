import type { Call } from "#control/call.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ANALYTICS_LIMIT_MAX, type AnalyticsFilter } from "#model/events/analytics.ts";
import {
  DNS_METRICS,
  type DnsMetric,
  type DnsReport,
  type DnsReportQuery,
  type DnsTimeReport,
  type DnsTimeReportQuery,
} from "#model/events/dns-report.ts";
import type { Analytics } from "./analytics.ts";
import { queryTime } from "./dashboard.ts";
import { DNS_DIMENSIONS, dnsReportFilter } from "./dns-report-fields.ts";
import { indexOf, type Intervals, intervalsOf } from "./time-intervals.ts";

export interface DnsReportDeps {
  readonly analytics: Analytics;
  readonly clock: Clock;
}

/** Counts of a zone's queries. Each throws `invalid_input`, and as Analytics does. */
export interface DnsReports {
  table(call: Call, zoneId: string, query: DnsReportQuery): Promise<DnsReport>;
  byTime(call: Call, zoneId: string, query: DnsTimeReportQuery): Promise<DnsTimeReport>;
}

export const createDnsReports = (deps: DnsReportDeps): DnsReports => ({
  table: (call, zoneId, query) => dnsReport(deps, call, zoneId, query),
  byTime: (call, zoneId, query) => dnsTimeReport(deps, call, zoneId, query),
});

const SINCE_DEFAULT_MS = 6 * 3_600_000;
const LIMIT_DEFAULT = 10_000;
/** Values in one report: 10,000 names with 1,500 intervals each would take the main thread seconds. */
const VALUES_MAX = 100_000;

/** Each metric of one group. Every answer is from the zone itself: none is cached, and none is stale. */
const METRICS: Readonly<Record<DnsMetric, (queries: number) => number>> = {
  queryCount: (queries) => queries,
  uncachedCount: (queries) => queries,
  staleCount: () => 0,
};

async function dnsReport(deps: DnsReportDeps, call: Call, zoneId: string, query: DnsReportQuery): Promise<DnsReport> {
  const read = readQuery(deps.clock, query);
  const { rows, total } = await countedRows(deps, call, zoneId, read, intervalsOf("all", read.sinceMs, read.untilMs));
  const data = rows.map(({ dimensions, counts }) => ({
    dimensions,
    metrics: read.metrics.map((metric) => METRICS[metric](counts[0] ?? 0)),
  }));
  return {
    data,
    query: read.shown,
    ...sums(
      read.metrics,
      rows.flatMap(({ counts }) => counts),
      total,
    ),
    rows: data.length,
  };
}

async function dnsTimeReport(deps: DnsReportDeps, call: Call, zoneId: string, query: DnsTimeReportQuery): Promise<DnsTimeReport> {
  const read = readQuery(deps.clock, query);
  const intervals = intervalsOf(query.time_delta ?? "auto", read.sinceMs, read.untilMs);
  const { rows, total } = await countedRows(deps, call, zoneId, read, intervals);
  const data = rows.map(({ dimensions, counts }) => ({ dimensions, metrics: read.metrics.map((metric) => counts.map(METRICS[metric])) }));
  return {
    data,
    query: { ...read.shown, time_delta: intervals.delta },
    ...sums(
      read.metrics,
      rows.flatMap(({ counts }) => counts),
      total,
    ),
    rows: data.length,
    time_intervals: intervals.bounds.slice(1).map((end, index) => [iso(intervals.bounds[index] ?? end), iso(end)]),
  };
}

interface ReadQuery {
  readonly metrics: readonly DnsMetric[];
  readonly dimensions: readonly string[];
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly filters: readonly AnalyticsFilter[];
  readonly limit: number;
  /** Positions in a row's dimensions, or the count; downwards if `sign` is negative. */
  readonly order: readonly { readonly at: number | "count"; readonly sign: 1 | -1 }[];
  readonly shown: DnsReport["query"];
}

function readQuery(clock: Clock, query: DnsReportQuery): ReadQuery {
  const nowMs = clock.nowMs();
  const untilMs = queryTime(query.until, "until", nowMs) ?? nowMs;
  const sinceMs = queryTime(query.since, "since", nowMs) ?? untilMs - SINCE_DEFAULT_MS;
  if (sinceMs >= untilMs) throw new PlatformError("invalid_input", { message: `"since" must be before "until".`, source: "/since" });
  const metrics = named(query.metrics ?? "queryCount", DNS_METRICS, "metrics");
  const dimensions = named(query.dimensions ?? "", Object.keys(DNS_DIMENSIONS), "dimensions");
  const sort = listOf(query.sort ?? "");
  const order = (sort.length > 0 ? sort : [`-${metrics[0]}`]).map((text) => {
    const name = text.replace(/^[+-]/, "");
    const [at] = named(name, [...metrics, ...dimensions], "sort");
    return {
      at: metrics.some((metric) => metric === at) ? ("count" as const) : dimensions.indexOf(at ?? ""),
      sign: text.startsWith("-") ? (-1 as const) : (1 as const),
    };
  });
  const limit = Math.min(query.limit ?? LIMIT_DEFAULT, ANALYTICS_LIMIT_MAX);
  const filters: AnalyticsFilter[] = [
    { field: "datetime", operator: "ge", value: sinceMs },
    { field: "datetime", operator: "lt", value: untilMs },
    ...(query.filters === undefined || query.filters === "" ? [] : [dnsReportFilter(query.filters)]),
  ];
  const shown = {
    ...{ dimensions, metrics, since: iso(sinceMs), until: iso(untilMs), limit },
    ...(sort.length > 0 ? { sort } : {}),
    ...(query.filters ? { filters: query.filters } : {}),
  };
  return { metrics, dimensions, sinceMs, untilMs, filters, limit, order, shown };
}

const listOf = (text: string): string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

function named<T extends string>(text: string, known: readonly T[], parameter: string): T[] {
  return [...new Set(listOf(text))].map((name) => {
    const found = known.find((candidate) => candidate === name);
    if (found === undefined)
      throw new PlatformError("invalid_input", {
        message: `"${name.slice(0, 80)}" is not among the ${parameter} here: ${known.join(", ")}.`,
        source: `/${parameter}`,
      });
    return found;
  });
}

interface CountedRow {
  readonly dimensions: string[];
  /** Queries in each interval. */
  readonly counts: number[];
}

async function countedRows({ analytics }: DnsReportDeps, call: Call, zoneId: string, read: ReadQuery, { field, bounds }: Intervals) {
  const scope = { zone_id: zoneId };
  const stored = [...new Set(read.dimensions.flatMap((name) => DNS_DIMENSIONS[name]?.field ?? []))];
  const asked = { filters: read.filters, measures: [], order: [{ by: "count", direction: "desc" }] as const, limit: ANALYTICS_LIMIT_MAX };
  const [all] = await analytics.groups(call, scope, "dnsAnalytics", { ...asked, dimensions: [], limit: 1 });
  const groups = await analytics.groups(call, scope, "dnsAnalytics", {
    ...asked,
    dimensions: field === null ? stored : [...stored, field],
  });
  if (groups.length === ANALYTICS_LIMIT_MAX)
    call.notes = [...(call.notes ?? []), `The report has the ${ANALYTICS_LIMIT_MAX} largest groups; totals count all queries.`];
  const byKey = new Map<string, SparseRow>();
  for (const group of groups) {
    const dimensions = read.dimensions.map((name) => {
      const { field: of = null, shown = String } = DNS_DIMENSIONS[name] ?? {};
      return shown(of === null ? null : (group.dimensions[of] ?? null));
    });
    const key = JSON.stringify(dimensions);
    let row = byKey.get(key);
    if (row === undefined) byKey.set(key, (row = { dimensions, count: 0, counts: new Map() }));
    const at = field === null ? 0 : indexOf(bounds, Date.parse(String(group.dimensions[field])));
    row.counts.set(at, (row.counts.get(at) ?? 0) + group.count);
    row.count += group.count;
  }
  const intervals = bounds.length - 1;
  const rowsMax = Math.ceil(VALUES_MAX / (intervals * read.metrics.length));
  const sorted = [...byKey.values()].toSorted((a, b) => compare(read.order, a, b)).slice(0, read.limit);
  if (sorted.length > rowsMax)
    call.notes = [
      ...(call.notes ?? []),
      `The report has the first ${rowsMax} rows: ask for fewer intervals or metrics to get more. Totals count all queries.`,
    ];
  const rows = sorted.slice(0, rowsMax).map(({ dimensions, counts }): CountedRow => {
    return { dimensions, counts: Array.from({ length: intervals }, (_, at) => counts.get(at) ?? 0) };
  });
  return { rows, total: all?.count ?? 0 };
}

/** A row before its intervals without queries are added. */
interface SparseRow {
  readonly dimensions: string[];
  count: number;
  readonly counts: Map<number, number>;
}

function compare(order: ReadQuery["order"], a: SparseRow, b: SparseRow): number {
  for (const { at, sign } of order) {
    const [x, y] = at === "count" ? [a.count, b.count] : [a.dimensions[at] ?? "", b.dimensions[at] ?? ""];
    if (x !== y) return x < y ? -sign : sign;
  }
  return 0;
}

function sums(metrics: readonly DnsMetric[], counts: readonly number[], total: number) {
  const of = (count: number) => Object.fromEntries(metrics.map((metric) => [metric, METRICS[metric](count)]));
  const [min, max] = counts.reduce<readonly [number, number]>(
    ([low, high], count) => [Math.min(low, count), Math.max(high, count)],
    [counts[0] ?? 0, 0],
  );
  return { data_lag: 0, min: of(min), max: of(max), totals: of(total) };
}

const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
