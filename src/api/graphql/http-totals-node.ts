import type * as GraphQl from "graphql";
import { HTTP_MAPS, HTTP_NUMBER_NAMES } from "#control/analytics/http-sums.ts";
import { type HttpTotals, httpTotals, type HttpTotalsOrder } from "#control/analytics/http-totals.ts";
import { ANALYTICS_DATASETS, type AnalyticsNode } from "#model/events/analytics.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import { type FilterInput, filtersOf } from "./analytics-filter.ts";
import { bothWays, conditionsOn, filterOf } from "./analytics-types.ts";
import { limitOf, listOf, nodeArguments, type NodeArguments } from "./node-parts.ts";
import type { FieldConfig, Scalars, ScopeSource } from "./context.ts";
import { selectedFields } from "./selected-fields.ts";

/** The meaning of a node's `datetime`, by the length of its intervals. */
const TIME_FIELDS: Readonly<Record<number, string>> = { 60_000: "datetimeMinute", 3_600_000: "datetimeHour", 86_400_000: "date" };
const FIELDS = ANALYTICS_DATASETS.httpRequests.fields;
/** Time fields for which totals can be requested; those shorter than a node's intervals mean its intervals. */
const TIMES = [
  ...["datetime", "datetimeMinute", "datetimeFiveMinutes", "datetimeFifteenMinutes", "datetimeHalfOfHour", "datetimeHour"],
  ...["datetimeSixHours", "datetimeDay", "date"],
] as readonly TimeName[];
type TimeName = "date" | Extract<keyof typeof FIELDS, `datetime${string}`>;

/** Total requests by minute, hour or day; the three nodes share their types. */
export function totalsNode(graphql: typeof GraphQl, { time, date }: Scalars): (node: AnalyticsNode) => FieldConfig {
  const { GraphQLEnumType, GraphQLFloat, GraphQLInt, GraphQLObjectType, GraphQLString } = graphql;
  const number = { type: GraphQLFloat };
  const maps = Object.entries(HTTP_MAPS).map(([name, { key, shows }]) => {
    const keyType = key === "edgeResponseStatus" ? GraphQLInt : GraphQLString;
    const fields = { [key]: { type: keyType }, ...Object.fromEntries(Object.keys(shows).map((shown) => [shown, number])) };
    return [name, { type: listOf(graphql, new GraphQLObjectType({ name: `HttpTotals${name}`, fields })) }] as const;
  });
  const numbers = HTTP_NUMBER_NAMES.map((name) => [name, number] as const);
  const sum = new GraphQLObjectType({ name: "HttpTotalsSum", fields: { ...Object.fromEntries(numbers), ...Object.fromEntries(maps) } });
  const times = TIMES.map((name) => [name, { type: name === "date" ? date : time }] as const);
  const dimensions = new GraphQLObjectType({ name: "HttpTotalsDimensions", fields: Object.fromEntries(times) });
  const uniq = new GraphQLObjectType({ name: "HttpTotalsUniq", fields: { uniques: number } });
  const total = new GraphQLObjectType({
    name: "HttpTotals",
    fields: { dimensions: { type: dimensions }, sum: { type: sum }, uniq: { type: uniq } },
  });
  const conditions = TIMES.flatMap((name) => conditionsOn(graphql, name, "time", name === "date" ? date : time));
  const filter = filterOf(graphql, "HttpTotalsFilter", conditions);
  const order = new GraphQLEnumType({ name: "HttpTotalsOrder", values: orders() });

  return ({ intervalMs = 0 }) => ({
    type: listOf(graphql, total),
    args: nodeArguments(graphql, filter, order),
    resolve: async ({ scope }: ScopeSource, args: NodeArguments, context, info) => {
      const field = TIME_FIELDS[intervalMs] ?? "date";
      const fieldOf = (name: string): string => (FIELDS[name as TimeName].intervalMs > intervalMs ? name : field);
      const asked = selectedFields(info, "dimensions").filter((name) => (TIMES as readonly string[]).includes(name));
      const given = (args.orderBy ?? []) as readonly HttpTotalsOrder[];
      const renamed = Object.fromEntries(TIMES.map((name) => [name, fieldOf(name)]));
      const query = {
        filters: filtersOf(ANALYTICS_DATASETS.httpRequests, field === "date" ? inDays(args.filter ?? {}) : (args.filter ?? {}), renamed),
        dimensions: [...new Set(asked.map(fieldOf))],
        order: given.map(({ by, direction }) =>
          typeof by === "object" ? { by: { dimension: fieldOf(by.dimension) }, direction } : { by, direction },
        ),
        limit: limitOf(args),
        // An order by a sum needs the sum.
        wanted: new Set([...selectedFields(info, "sum"), ...given.map(({ by }) => String(by))]),
        countsUniques: selectedFields(info, "uniq").includes("uniques") || given.some(({ by }) => by === "uniques"),
      };
      const { analytics } = context.req.control;
      const find = () => httpTotals(analytics, context.req.call, scope, query);
      const show = ({ dimensions: known, sum: sums, uniq: uniques }: HttpTotals): object => ({
        sum: sums,
        uniq: uniques,
        dimensions: Object.fromEntries(asked.map((name) => [name, timeShown(name, String(known[fieldOf(name)]))])),
      });
      return context.inTurn(info, { scope, find, show });
    },
  });
}

const orders = () =>
  bothWays<HttpTotalsOrder["by"]>([
    ...TIMES.map((dimension) => [dimension, { dimension }] as const),
    ...HTTP_NUMBER_NAMES.map((name) => [`sum_${name}`, name] as const),
    ["uniq_uniques", "uniques"],
  ]);

/** A filter on a day's times becomes one on its date, at midnight. */
const inDays = (filter: FilterInput): FilterInput =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => {
      if (name === "AND" || name === "OR") return [name, (value as readonly FilterInput[] | null)?.map(inDays) ?? null];
      if (!name.startsWith("datetime") || value === null) return [name, value];
      const days = [value].flat().map((time) => dayOf(String(time)));
      return [name.replace(/^datetime[A-Za-z]*/, "date"), Array.isArray(value) ? days : days[0]];
    }),
  ) as FilterInput;

/** The day (UTC) of a time; an invalid one stays, for the filter to refuse. */
function dayOf(text: string): string {
  const ms = parseTimestamp(text);
  return ms === undefined ? text : new Date(ms).toISOString().slice(0, 10);
}

const timeShown = (name: string, text: string): string => (name !== "date" && text.length === 10 ? `${text}T00:00:00Z` : text);
