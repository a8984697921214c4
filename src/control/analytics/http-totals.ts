import type { Call } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { AnalyticsFilter, AnalyticsGroup, AnalyticsQuery, AnalyticsScope, AnalyticsValue } from "#model/events/analytics.ts";
import type { Analytics } from "./analytics.ts";
import { fieldsFor, type HttpNumber, type HttpParts, httpSums, type HttpSums, needs } from "./http-sums.ts";

/** Totals of the requests in one period. */
export interface HttpTotals {
  readonly dimensions: Readonly<Record<string, AnalyticsValue>>;
  /** Only every n-th row was read, if rows had to be read. */
  readonly sampleInterval: number;
  readonly sum: HttpSums;
  /** Number of different client addresses; 0 if not requested. */
  readonly uniq: { readonly uniques: number };
}

const STOPPED = ["block", "challenge", "js_challenge", "managed_challenge"];
const PAGES: readonly AnalyticsFilter[] = [
  { field: "edgeResponseContentTypeName", operator: "eq", value: "text/html" },
  { field: "edgeResponseStatus", operator: "ge", value: 200 },
  { field: "edgeResponseStatus", operator: "lt", value: 300 },
];
/** Limit of groups over all periods together, because the main thread adds them up. */
const GROUPS_MAX = 50_000;

export interface HttpTotalsOrder {
  readonly by: HttpNumber | "uniques" | { readonly dimension: string };
  readonly direction: "asc" | "desc";
}

export interface HttpTotalsQuery {
  /** Time fields only, if threats or maps of them are wanted. */
  readonly filters: readonly AnalyticsFilter[];
  /** Fields of requests; time fields only, if threats are wanted. Empty: one period. */
  readonly dimensions: readonly string[];
  /** By default by time, earliest first. */
  readonly order: readonly HttpTotalsOrder[];
  readonly limit: number;
  /** Names of the requested sums; fewer sums read less data. */
  readonly wanted: ReadonlySet<string>;
  /** Counts distinct addresses, which requires reading rows. */
  readonly countsUniques: boolean;
}

/** Throws as Analytics does, and `invalid_input` if the period is too long for its intervals. */
export async function httpTotals(
  analytics: Analytics,
  call: Call,
  scope: AnalyticsScope,
  { filters, dimensions, order, limit, wanted, countsUniques }: HttpTotalsQuery,
): Promise<readonly HttpTotals[]> {
  const ask = async (dataset: "httpRequests" | "firewallEvents", query: Partial<AnalyticsQuery>) => {
    const found = await analytics.groups(call, scope, dataset, {
      filters,
      dimensions,
      measures: [],
      order: [],
      limit: GROUPS_MAX,
      ...query,
    });
    if (found.length < GROUPS_MAX) return found;
    throw new PlatformError("invalid_input", {
      message: "The query has too many intervals: choose a shorter time range, longer intervals or fewer maps.",
    });
  };
  for (const { by } of order)
    if (dimensions.length > 0 && typeof by === "object" && !dimensions.includes(by.dimension))
      throw new PlatformError("invalid_input", {
        message: `orderBy ${by.dimension} requires the dimension ${by.dimension} in the query`,
      });
  const keyOf = (group: AnalyticsGroup): string => JSON.stringify(dimensions.map((name) => group.dimensions[name]));
  const byKey = (groups: readonly AnalyticsGroup[]) => Map.groupBy(groups, keyOf);

  const requests = byKey(
    await ask("httpRequests", {
      dimensions: [...dimensions, ...fieldsFor("requests", wanted)],
      measures: [{ kind: "sum", column: "bytes_out" }],
      order: dimensions.map((dimension) => ({ by: { dimension }, direction: "asc" })),
    }),
  );
  const others = async (kind: keyof HttpParts, dataset: "httpRequests" | "firewallEvents", more: readonly AnalyticsFilter[]) =>
    needs(kind, wanted)
      ? byKey(await ask(dataset, { dimensions: [...dimensions, ...fieldsFor(kind, wanted)], filters: [...filters, ...more] }))
      : undefined;
  const threats = await others("threats", "firewallEvents", [{ field: "action", operator: "in", value: STOPPED }]);
  const pages = await others("pages", "httpRequests", PAGES);
  const visitors = countsUniques ? byKey(await ask("httpRequests", { measures: [{ kind: "unique", column: "client_ip" }] })) : undefined;

  const totals = Array.from(requests, ([key, groups]) => ({
    dimensions: Object.fromEntries(dimensions.map((name) => [name, groups[0]?.dimensions[name] ?? null])),
    sampleInterval: groups[0]?.sampleInterval ?? 1,
    sum: httpSums({ requests: groups, threats: threats?.get(key) ?? [], pages: pages?.get(key) ?? [] }, wanted),
    uniq: { uniques: visitors?.get(key)?.[0]?.measures[0] ?? 0 },
  }));
  return (order.length === 0 ? totals : totals.toSorted(comparison(order))).slice(0, limit);
}

const comparison =
  (order: readonly HttpTotalsOrder[]) =>
  (a: HttpTotals, b: HttpTotals): number => {
    for (const { by, direction } of order) {
      const [x, y] = [a, b].map(({ dimensions, sum, uniq }) =>
        typeof by === "object" ? (dimensions[by.dimension] ?? "") : by === "uniques" ? uniq.uniques : sum[by],
      ) as [string | number, string | number];
      if (x !== y) return x < y === (direction === "asc") ? -1 : 1;
    }
    return 0;
  };
