import type * as GraphQl from "graphql";
import { httpTotals } from "#control/analytics/http-totals.ts";
import { ANALYTICS_DATASETS, type AnalyticsNode } from "#model/analytics.ts";
import { filtersOf } from "./analytics-filter.ts";
import { limitOf, listOf, nodeArguments, type NodeArguments } from "./node-parts.ts";
import type { FieldConfig, Scalars, ScopeSource } from "./context.ts";
import { selectedFields } from "./selected-fields.ts";

/** By the length of the intervals, the field that `datetime` of such a node means. */
const TIME_FIELDS: Readonly<Record<number, string>> = { 60_000: "datetimeMinute", 3_600_000: "datetimeHour", 86_400_000: "date" };

const MAP_KEYS = {
  responseStatusMap: "edgeResponseStatus",
  contentTypeMap: "edgeResponseContentTypeName",
  countryMap: "clientCountryName",
  clientHTTPVersionMap: "clientHTTPProtocol",
  clientSSLMap: "clientSSLProtocol",
  cacheStatusMap: "cacheStatus",
} as const;

const NUMBERS = [
  "requests",
  "bytes",
  "cachedRequests",
  "cachedBytes",
  "encryptedRequests",
  "encryptedBytes",
  "pageViews",
  "threats",
] as const;

/** Requests in all, minute by minute, hour by hour or day by day; the three nodes share their types. */
export function totalsNode(graphql: typeof GraphQl, { time, date }: Scalars): (node: AnalyticsNode) => FieldConfig {
  const { GraphQLEnumType, GraphQLFloat, GraphQLInputObjectType, GraphQLInt, GraphQLObjectType, GraphQLString } = graphql;
  const maps = Object.entries(MAP_KEYS).map(([name, key]) => {
    const keyType = key === "edgeResponseStatus" ? GraphQLInt : GraphQLString;
    const fields = { [key]: { type: keyType }, requests: { type: GraphQLFloat }, bytes: { type: GraphQLFloat } };
    return [name, { type: listOf(graphql, new GraphQLObjectType({ name: `HttpTotals${name}`, fields })) }] as const;
  });
  const numbers = NUMBERS.map((name) => [name, { type: GraphQLFloat }] as const);
  const sum = new GraphQLObjectType({ name: "HttpTotalsSum", fields: { ...Object.fromEntries(numbers), ...Object.fromEntries(maps) } });
  const dimensions = new GraphQLObjectType({ name: "HttpTotalsDimensions", fields: { datetime: { type: time }, date: { type: date } } });
  const uniq = new GraphQLObjectType({ name: "HttpTotalsUniq", fields: { uniques: { type: GraphQLFloat } } });
  const total = new GraphQLObjectType({
    name: "HttpTotals",
    fields: { dimensions: { type: dimensions }, sum: { type: sum }, uniq: { type: uniq } },
  });
  const comparisons = ["", "_gt", "_geq", "_lt", "_leq"].flatMap((suffix) => [
    [`datetime${suffix}`, { type: time }] as const,
    [`date${suffix}`, { type: date }] as const,
  ]);
  const filter = new GraphQLInputObjectType({ name: "HttpTotalsFilter", fields: Object.fromEntries(comparisons) });
  const orders = ["datetime", "date"].flatMap((name) => [
    [`${name}_ASC`, { value: "asc" }] as const,
    [`${name}_DESC`, { value: "desc" }] as const,
  ]);
  const order = new GraphQLEnumType({ name: "HttpTotalsOrder", values: Object.fromEntries(orders) });

  return ({ intervalMs = 0 }) => ({
    type: listOf(graphql, total),
    args: nodeArguments(graphql, filter, order),
    resolve: async ({ scope }: ScopeSource, args: NodeArguments, context, info) => {
      const field = TIME_FIELDS[intervalMs] ?? "date";
      const fieldOf = (name: string): string => (name === "datetime" && field !== "date" ? field : "date");
      const asked = selectedFields(info, "dimensions").filter((name) => name === "datetime" || name === "date");
      const { analytics } = context.req.control;
      // A filter of the datetime of days is one of their dates, at midnight.
      const given = Object.entries(args.filter ?? {}).map(([name, value]) => {
        const isDay = field === "date" && name.startsWith("datetime");
        return isDay ? ([name.replace("datetime", "date"), String(value).slice(0, 10)] as const) : ([name, value] as const);
      });
      const found = await httpTotals(analytics, context.req.call, scope, {
        filters: filtersOf(ANALYTICS_DATASETS.httpRequests, Object.fromEntries(given), { datetime: field }),
        dimensions: [...new Set(asked.map(fieldOf))],
        direction: (args.orderBy?.[0] ?? "asc") as "asc" | "desc",
        limit: limitOf(args, context),
        countsUniques: selectedFields(info, "uniq").includes("uniques"),
      });
      return found.map(({ dimensions: known, sum: sums, uniq: uniques }) => ({
        sum: sums,
        uniq: uniques,
        dimensions: Object.fromEntries(asked.map((name) => [name, timeShown(name, known[fieldOf(name)] ?? "")])),
      }));
    },
  });
}

const timeShown = (name: string, text: string): string => (name === "datetime" && text.length === 10 ? `${text}T00:00:00Z` : text);
