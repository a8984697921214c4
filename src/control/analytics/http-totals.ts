import type { Call } from "#control/call.ts";
import { PlatformError } from "#kernel/errors.ts";
import type { AnalyticsFilter, AnalyticsGroup, AnalyticsScope } from "#model/analytics.ts";
import type { Analytics } from "./analytics.ts";

/** What the requests of one stretch of time come to. */
export interface HttpTotals {
  readonly dimensions: Readonly<Record<string, string>>;
  readonly sum: HttpSums;
  /** Different client addresses; 0 where nobody asked. */
  readonly uniq: { readonly uniques: number };
}

export interface HttpSums {
  readonly requests: number;
  readonly bytes: number;
  readonly cachedRequests: number;
  readonly cachedBytes: number;
  readonly encryptedRequests: number;
  readonly encryptedBytes: number;
  /** HTML that was found. */
  readonly pageViews: number;
  /** Requests that rules stopped. */
  readonly threats: number;
  readonly responseStatusMap: readonly Part<"edgeResponseStatus">[];
  readonly contentTypeMap: readonly Part<"edgeResponseContentTypeName">[];
  readonly countryMap: readonly Part<"clientCountryName">[];
  readonly clientHTTPVersionMap: readonly Part<"clientHTTPProtocol">[];
  readonly clientSSLMap: readonly Part<"clientSSLProtocol">[];
  readonly cacheStatusMap: readonly Part<"cacheStatus">[];
}

type Part<Name extends string> = { readonly [K in Name]: string | number } & { readonly requests: number; readonly bytes: number };

/** How each map of the sums is called, its key, and the field that it is made of. */
const MAPS = [
  ["responseStatusMap", "edgeResponseStatus", "edgeResponseStatus"],
  ["contentTypeMap", "edgeResponseContentTypeName", "edgeResponseContentTypeName"],
  ["countryMap", "clientCountryName", "clientCountryName"],
  ["clientHTTPVersionMap", "clientHTTPProtocol", "clientRequestHTTPProtocol"],
  ["clientSSLMap", "clientSSLProtocol", "clientSSLProtocol"],
  ["cacheStatusMap", "cacheStatus", "cacheStatus"],
] as const;

/** What came out of the cache, in whole or confirmed. */
const FROM_CACHE = new Set(["HIT", "STALE", "UPDATING", "REVALIDATED"]);
const STOPPED = ["block", "challenge", "js_challenge", "managed_challenge"];
/** What roll-ups know of a request; the sums are made of nothing else. */
const KNOWN = [...MAPS.map(([, , field]) => field), "clientRequestScheme"];
/** Combinations of these in all stretches of time together. */
const GROUPS_MAX = 200_000;

export interface HttpTotalsQuery {
  readonly filters: readonly AnalyticsFilter[];
  /** Fields of time; one stretch without any. */
  readonly dimensions: readonly string[];
  readonly direction: "asc" | "desc";
  readonly limit: number;
  /** Counts addresses, for which rows have to be read. */
  readonly countsUniques: boolean;
}

/** Throws as Analytics does, and `invalid_input` where the time asked for is too long for its intervals. */
export async function httpTotals(
  analytics: Analytics,
  call: Call,
  scope: AnalyticsScope,
  { filters, dimensions, direction, limit, countsUniques }: HttpTotalsQuery,
): Promise<readonly HttpTotals[]> {
  const order = dimensions.map((dimension) => ({ by: { dimension }, direction }));
  const groups = await analytics.groups(call, scope, "httpRequests", {
    filters,
    dimensions: [...dimensions, ...KNOWN],
    measures: [{ kind: "sum", column: "bytes_out" }],
    order,
    limit: GROUPS_MAX,
  });
  if (groups.length === GROUPS_MAX)
    throw new PlatformError("invalid_input", { message: "These are too many intervals: ask for a shorter time or for longer intervals." });
  const stopped = await analytics.groups(call, scope, "firewallEvents", {
    filters: [
      ...filters.filter((filter) => "field" in filter && filter.field.startsWith("date")),
      { field: "action", operator: "in", value: STOPPED },
    ],
    dimensions,
    measures: [],
    order: [],
    limit: GROUPS_MAX,
  });
  const visitors = countsUniques
    ? await analytics.groups(call, scope, "httpRequests", {
        ...{ filters, dimensions, order: [], limit: GROUPS_MAX },
        measures: [{ kind: "unique", column: "client_ip" }],
      })
    : [];
  const keyOf = (group: AnalyticsGroup): string => dimensions.map((name) => String(group.dimensions[name])).join(" ");
  const threats = new Map(stopped.map((group) => [keyOf(group), group.count]));
  const uniques = new Map(visitors.map((group) => [keyOf(group), group.measures[0] ?? 0]));
  return Array.from(Map.groupBy(groups, keyOf))
    .slice(0, limit)
    .map(([key, parts]) => ({
      dimensions: Object.fromEntries(dimensions.map((name) => [name, String(parts[0]?.dimensions[name])])),
      sum: sumsOf(parts, threats.get(key) ?? 0),
      uniq: { uniques: uniques.get(key) ?? 0 },
    }));
}

function sumsOf(groups: readonly AnalyticsGroup[], threats: number): HttpSums {
  const total = (holds: (group: AnalyticsGroup) => boolean): { readonly requests: number; readonly bytes: number } =>
    groups.filter(holds).reduce((sum, { count, measures: [bytes = 0] }) => ({ requests: sum.requests + count, bytes: sum.bytes + bytes }), {
      requests: 0,
      bytes: 0,
    });
  const all = total(() => true);
  const cached = total(({ dimensions }) => FROM_CACHE.has(String(dimensions["cacheStatus"])));
  const encrypted = total(({ dimensions }) => dimensions["clientRequestScheme"] === "https");
  const pages = total(
    ({ dimensions }) =>
      dimensions["edgeResponseContentTypeName"] === "text/html" && Math.floor(Number(dimensions["edgeResponseStatus"]) / 100) === 2,
  );
  const maps = MAPS.map(([name, key, field]) => [
    name,
    Array.from(
      Map.groupBy(groups, ({ dimensions }) => dimensions[field] ?? ""),
      ([value]) => ({ [key]: value, ...total(({ dimensions }) => (dimensions[field] ?? "") === value) }),
    ).toSorted((a, b) => b.requests - a.requests),
  ]);
  return {
    requests: all.requests,
    bytes: all.bytes,
    cachedRequests: cached.requests,
    cachedBytes: cached.bytes,
    encryptedRequests: encrypted.requests,
    encryptedBytes: encrypted.bytes,
    pageViews: pages.requests,
    threats,
    ...(Object.fromEntries(maps) as Pick<HttpSums, (typeof MAPS)[number][0]>),
  };
}
