import type * as GraphQl from "graphql";
import { HTTP_OVERVIEW_RATIOS, type HttpNumber, ratioParts } from "#control/analytics/http-sums.ts";
import { httpTotals, type HttpTotals, type HttpTotalsOrder } from "#control/analytics/http-totals.ts";
import { ANALYTICS_DATASETS, type AnalyticsDataset, type AnalyticsNode } from "#model/events/analytics.ts";
import { filtersOf } from "./analytics-filter.ts";
import { ALWAYS_NULL, bothWays, type DatasetTypes, mapValues, scalarsOf } from "./analytics-types.ts";
import type { FieldConfig, Scalars, ScopeSource } from "./context.ts";
import { limitOf, listOf, nodeArguments, type NodeArguments } from "./node-parts.ts";
import { selectedFields } from "./selected-fields.ts";

const DATASET: AnalyticsDataset = ANALYTICS_DATASETS.httpRequests;

/** Dimensions of the counts of requests, besides their time. */
const COUNTED_BY = [
  ...["zoneTag", "clientCountryName", "clientRequestHTTPMethodName", "clientRequestHTTPProtocol", "clientRequestScheme"],
  ...["clientSSLProtocol", "cacheStatus", "edgeResponseContentTypeName", "edgeResponseStatus"],
];
/** Dimensions that charts request besides these and that no row has. */
const UNKNOWN = ["httpApplicationVersion", "userAgentBrowser", "zoneVersion"];
const FIELDS = Object.keys(DATASET.fields).filter((name) => name.startsWith("date") || [...COUNTED_BY, ...UNKNOWN].includes(name));

const SUMS = [
  ...(["requests", "bytes", "pageViews", "cachedRequests", "cachedBytes"] as const),
  ...(["encryptedRequests", "encryptedBytes"] as const),
] satisfies readonly HttpNumber[];
const RATIOS = Object.keys(HTTP_OVERVIEW_RATIOS);

/** Requests in few sums, by the dimensions of charts of a whole site. */
export function overviewNode(
  graphql: typeof GraphQl,
  scalars: Scalars,
): (node: Pick<AnalyticsNode, "dataset">, types: Pick<DatasetTypes, "filter">) => FieldConfig {
  const { GraphQLEnumType, GraphQLFloat, GraphQLObjectType } = graphql;
  const scalarOf = scalarsOf(graphql, scalars);
  const numbers = (name: string, measured: readonly string[], unmeasured: readonly string[] = []) => ({
    type: new GraphQLObjectType({
      name: `HttpOverview${name}`,
      fields: {
        ...Object.fromEntries(measured.map((field) => [field, { type: GraphQLFloat }])),
        ...Object.fromEntries(unmeasured.map((field) => [field, { type: GraphQLFloat, description: ALWAYS_NULL }])),
      },
    }),
  });
  const dimensions = Object.fromEntries(
    FIELDS.map((name) => [
      name,
      { type: scalarOf(DATASET.fields[name]!), ...(UNKNOWN.includes(name) ? { description: ALWAYS_NULL } : {}) },
    ]),
  );
  const group = new GraphQLObjectType({
    name: "HttpOverviewGroup",
    fields: {
      count: { type: GraphQLFloat },
      dimensions: { type: new GraphQLObjectType({ name: "HttpOverviewDimensions", fields: dimensions }) },
      sum: numbers("Sum", SUMS, ["visits"]),
      ratio: numbers("Ratio", RATIOS),
      avg: numbers("Avg", ["sampleInterval"], ["originResponseDurationMs"]),
    },
  });
  const order = new GraphQLEnumType({
    name: "HttpOverviewOrder",
    values: bothWays<HttpTotalsOrder["by"]>([
      ...FIELDS.map((dimension) => [dimension, { dimension }] as const),
      ...SUMS.map((name) => [`sum_${name}`, name] as const),
      ["count", "requests"],
      ["sum_visits", "requests"],
      ["avg_originResponseDurationMs", "requests"],
    ]),
  });

  return (_node, { filter }) => ({
    type: listOf(graphql, group),
    args: nodeArguments(graphql, filter, order),
    resolve: async ({ scope }: ScopeSource, args: NodeArguments, context, info) => {
      const ratios = selectedFields(info, "ratio").filter((name) => RATIOS.includes(name));
      const orders = (args.orderBy ?? []) as readonly HttpTotalsOrder[];
      const query = {
        filters: filtersOf(DATASET, args.filter ?? {}),
        dimensions: selectedFields(info, "dimensions").filter((name) => FIELDS.includes(name)),
        order: orders,
        limit: limitOf(args),
        wanted: new Set(["requests", ...selectedFields(info, "sum"), ...ratios.flatMap(ratioParts), ...orders.map(({ by }) => String(by))]),
        countsUniques: false,
      };
      const { analytics } = context.req.control;
      const find = () => httpTotals(analytics, context.req.call, scope, query);
      return context.inTurn(info, { scope, find, show: shown });
    },
  });
}

const shown = ({ dimensions, sum, sampleInterval }: HttpTotals): object => ({
  count: sum.requests,
  dimensions,
  sum,
  avg: { sampleInterval },
  ratio: mapValues(HTTP_OVERVIEW_RATIOS, ({ part, of }) => (sum[of] === 0 ? 0 : sum[part] / sum[of])),
});
