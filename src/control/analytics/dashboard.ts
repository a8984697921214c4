import type { Call } from "#control/call.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DashboardQuery, DashboardTotals, ZoneDashboard } from "#model/zones/zone-dashboard.ts";
import type { AnalyticsFilter } from "#model/events/analytics.ts";
import type { Analytics } from "./analytics.ts";
import type { HttpSums } from "./http-sums.ts";
import { httpTotals } from "./http-totals.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const SINCE_DEFAULT_MS = 7 * DAY_MS;
const SPAN_MAX_MS = 366 * DAY_MS;

const SUMS: ReadonlySet<string> = new Set([
  ...["requests", "bytes", "cachedRequests", "cachedBytes", "encryptedRequests", "encryptedBytes", "pageViews", "threats"],
  ...["contentTypeMap", "countryMap", "responseStatusMap"],
]);

/** The interval of a time series, by the length of the period. */
const INTERVALS = [
  { upToMs: 3 * HOUR_MS, intervalMs: MINUTE_MS, field: "datetimeMinute" },
  { upToMs: 3 * DAY_MS, intervalMs: HOUR_MS, field: "datetimeHour" },
  { upToMs: SPAN_MAX_MS, intervalMs: DAY_MS, field: "date" },
] as const;

/** Throws `invalid_input` for times that are invalid or too far apart, and as Analytics does. */
export async function zoneDashboard(
  deps: { readonly analytics: Analytics; readonly clock: Clock },
  call: Call,
  zoneId: string,
  query: DashboardQuery,
): Promise<ZoneDashboard> {
  const nowMs = deps.clock.nowMs();
  const untilMs = queryTime(query.until, "until", nowMs) ?? nowMs;
  const sinceMs = queryTime(query.since, "since", nowMs) ?? untilMs - SINCE_DEFAULT_MS;
  const cut = INTERVALS.find(({ upToMs }) => untilMs - sinceMs <= upToMs);
  if (sinceMs >= untilMs || cut === undefined)
    throw new PlatformError("invalid_input", { message: `"since" must be before "until", by at most a year.`, source: "/since" });
  const { intervalMs, field } = cut;
  const [fromMs, toMs] = [Math.floor(sinceMs / intervalMs) * intervalMs, Math.ceil(untilMs / intervalMs) * intervalMs];
  const filters: readonly AnalyticsFilter[] = [
    { field, operator: "ge", value: fromMs },
    { field, operator: "lt", value: toMs },
  ];
  const scope = { zone_id: zoneId };
  const asked = { filters, order: [], limit: 10_000, wanted: SUMS, countsUniques: true };
  const [all] = await httpTotals(deps.analytics, call, scope, { ...asked, dimensions: [] });
  const parts = await httpTotals(deps.analytics, call, scope, { ...asked, dimensions: [field] });
  return {
    totals: totalsOf(fromMs, toMs, all?.sum, all?.uniq.uniques ?? 0),
    timeseries: parts.map(({ dimensions, sum, uniq }) => {
      const startMs = Date.parse(String(dimensions[field]));
      return totalsOf(startMs, startMs + intervalMs, sum, uniq.uniques);
    }),
  };
}

export function queryTime(text: string | undefined, name: string, nowMs: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const ms = /^-?\d{1,7}$/.test(text) ? nowMs + Number(text) * MINUTE_MS : Date.parse(text);
  if (Number.isNaN(ms) || ms > nowMs + DAY_MS)
    throw new PlatformError("invalid_input", {
      message: `"${name}" must be a time, or minutes before now such as -10080.`,
      source: `/${name}`,
    });
  return ms;
}

const iso = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function totalsOf(fromMs: number, toMs: number, sum: HttpSums | undefined, uniques: number): DashboardTotals {
  const traffic = (what: "requests" | "bytes") => {
    const all = sum?.[what] ?? 0;
    const cached = (what === "requests" ? sum?.cachedRequests : sum?.cachedBytes) ?? 0;
    const encrypted = (what === "requests" ? sum?.encryptedRequests : sum?.encryptedBytes) ?? 0;
    return {
      all,
      cached,
      uncached: all - cached,
      content_type: Object.fromEntries(
        (sum?.contentTypeMap ?? []).map((part) => [String(part["edgeResponseContentTypeName"]), Number(part[what])]),
      ),
      country: Object.fromEntries((sum?.countryMap ?? []).map((part) => [String(part["clientCountryName"]), Number(part[what])])),
      ssl: { encrypted, unencrypted: all - encrypted },
    };
  };
  const http_status = Object.fromEntries(
    (sum?.responseStatusMap ?? []).map((part) => [String(part["edgeResponseStatus"]), Number(part["requests"])]),
  );
  return {
    since: iso(fromMs),
    until: iso(toMs),
    requests: { ...traffic("requests"), http_status },
    bandwidth: traffic("bytes"),
    threats: { all: sum?.threats ?? 0 },
    pageviews: { all: sum?.pageViews ?? 0 },
    uniques: { all: uniques },
  };
}
