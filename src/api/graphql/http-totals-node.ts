import type * as GraphQl from "graphql";
import { HTTP_MAPS, HTTP_NUMBER_NAMES } from "#control/analytics/http-sums.ts";
import { httpTotals, type HttpTotalsOrder } from "#control/analytics/http-totals.ts";
import { ANALYTICS_DATASETS, ANALYTICS_OPERATORS, type AnalyticsNode } from "#model/analytics.ts";
import { type FilterInput, filtersOf } from "./analytics-filter.ts";
import { limitOf, listOf, nodeArguments, type NodeArguments } from "./node-parts.ts";
import type { FieldConfig, Scalars, ScopeSource } from "./context.ts";
import { selectedFields } from "./selected-fields.ts";

/** By the length of the intervals, the field that `datetime` of such a node means. */
const TIME_FIELDS: Readonly<Record<number, string>> = { 60_000: "datetimeMinute", 3_600_000: "datetimeHour", 86_400_000: "date" };
const FIELDS = ANALYTICS_DATASETS.httpRequests.fields;
/** Fields of time that totals can be asked for by; those shorter than the intervals of a node mean its intervals. */
const TIMES = ["datetime", "datetimeMinute", "datetimeFiveMinutes", "datetimeFifteenMinutes", "datetimeHour", "date"] as const;
type TimeName = (typeof TIMES)[number];

/** Requests in all, minute by minute, hour by hour or day by day; the three nodes share their types. */
export function totalsNode(graphql: typeof GraphQl, { time, date }: Scalars): (node: AnalyticsNode) => FieldConfig {
  const {
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLString,
  } = graphql;
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
  const comparisons = times.flatMap(([name, type]) =>
    Object.keys(ANALYTICS_OPERATORS.time).map((suffix) => [`${name}${suffix}`, type] as const),
  );
  const filter: GraphQl.GraphQLInputObjectType = new GraphQLInputObjectType({
    name: "HttpTotalsFilter",
    fields: () => {
      const list = { type: new GraphQLList(new GraphQLNonNull(filter)) };
      return { AND: list, OR: list, ...Object.fromEntries(comparisons) };
    },
  });
  const order = new GraphQLEnumType({ name: "HttpTotalsOrder", values: orders() });

  return ({ intervalMs = 0 }) => ({
    type: listOf(graphql, total),
    args: nodeArguments(graphql, filter, order),
    resolve: async ({ scope }: ScopeSource, args: NodeArguments, context, info) => {
      const field = TIME_FIELDS[intervalMs] ?? "date";
      const fieldOf = (name: string): string => (FIELDS[name as TimeName].intervalMs > intervalMs ? name : field);
      const asked = selectedFields(info, "dimensions").filter((name) => (TIMES as readonly string[]).includes(name));
      const renamed = Object.fromEntries(TIMES.map((name) => [name, fieldOf(name)]));
      const query = {
        filters: filtersOf(ANALYTICS_DATASETS.httpRequests, field === "date" ? inDays(args.filter ?? {}) : (args.filter ?? {}), renamed),
        dimensions: [...new Set(asked.map(fieldOf))],
        order: ((args.orderBy ?? []) as readonly HttpTotalsOrder[]).map(({ by, direction }) =>
          typeof by === "object" ? { by: { dimension: fieldOf(by.dimension) }, direction } : { by, direction },
        ),
        limit: limitOf(args),
        // An order by a sum needs the sum.
        wanted: new Set([
          ...selectedFields(info, "sum"),
          ...((args.orderBy ?? []) as readonly HttpTotalsOrder[]).map(({ by }) => String(by)),
        ]),
        countsUniques: selectedFields(info, "uniq").includes("uniques"),
      };
      const { analytics } = context.req.control;
      const found = await context.inTurn(info, async () => httpTotals(analytics, context.req.call, scope, query));
      return found.map(({ dimensions: known, sum: sums, uniq: uniques }) => ({
        sum: sums,
        uniq: uniques,
        dimensions: Object.fromEntries(asked.map((name) => [name, timeShown(name, known[fieldOf(name)] ?? "")])),
      }));
    },
  });
}

function orders(): Record<string, { value: HttpTotalsOrder }> {
  const by: [string, HttpTotalsOrder["by"]][] = [
    ...TIMES.map((dimension): [string, HttpTotalsOrder["by"]] => [dimension, { dimension }]),
    ...HTTP_NUMBER_NAMES.map((name): [string, HttpTotalsOrder["by"]] => [`sum_${name}`, name]),
  ];
  return Object.fromEntries(
    by.flatMap(([name, value]) => [
      [`${name}_ASC`, { value: { by: value, direction: "asc" } }],
      [`${name}_DESC`, { value: { by: value, direction: "desc" } }],
    ]),
  ) as Record<string, { value: HttpTotalsOrder }>;
}

/** A filter of the times of days is one of their dates, at midnight. */
const inDays = (filter: FilterInput): FilterInput =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => {
      if (Array.isArray(value)) return [name, (value as readonly FilterInput[]).map(inDays)];
      return name.startsWith("datetime") && typeof value === "string"
        ? [name.replace(/^datetime[A-Z]?[A-Za-z]*/, "date"), value.slice(0, 10)]
        : [name, value];
    }),
  ) as FilterInput;

const timeShown = (name: string, text: string): string => (name !== "date" && text.length === 10 ? `${text}T00:00:00Z` : text);
