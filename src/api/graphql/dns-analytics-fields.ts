import type * as GraphQl from "graphql";
import type { Req } from "#api/route.ts";
import { PlatformError } from "#kernel/errors.ts";
import {
  DNS_DIMENSION_NAMES,
  DNS_DIMENSIONS,
  DNS_FILTER_OPERATORS,
  DNS_GROUPS_MAX,
  type DnsDimension,
  type DnsDimensionName,
  type DnsFilter,
  type DnsFilterOperator,
} from "#model/dns-analytics.ts";
import { parseTimestamp } from "#model/timestamp.ts";
import { selectedFields } from "./selected-fields.ts";

/** What resolvers get besides the query. */
export interface GraphQlContext {
  readonly req: Pick<Req<string, unknown, unknown>, "control" | "call">;
  /** Called for each count; throws where one request asks for too many. */
  count(): void;
}

interface Arguments {
  readonly limit: number;
  readonly filter?: Readonly<Record<string, string | number | readonly (string | number)[]>>;
  readonly orderBy?: readonly string[];
}

const DAY_MS = 86_400_000;

/** The field `dnsAnalyticsAdaptiveGroups` of a zone. */
export function dnsAnalyticsField(
  graphql: typeof GraphQl,
  scalars: { readonly time: GraphQl.GraphQLScalarType; readonly date: GraphQl.GraphQLScalarType },
): GraphQl.GraphQLFieldConfig<{ zoneTag: string }, GraphQlContext, Arguments> {
  const {
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLString,
    GraphQLFloat,
  } = graphql;
  const scalarOf = ({ kind }: DnsDimension): GraphQl.GraphQLScalarType =>
    kind === "text" ? GraphQLString : kind === "integer" ? GraphQLInt : scalars[kind];
  const dimensions = new GraphQLObjectType({
    name: "DnsAnalyticsDimensions",
    fields: mapValues(DNS_DIMENSIONS, (dimension) => ({ type: scalarOf(dimension) })),
  });
  const filter = new GraphQLInputObjectType({
    name: "DnsAnalyticsFilter",
    fields: Object.fromEntries(
      Object.entries(FILTERS).map(([name, { dimension, operator }]) => {
        const scalar = scalarOf(DNS_DIMENSIONS[dimension]);
        return [name, { type: operator === "in" ? new GraphQLList(new GraphQLNonNull(scalar)) : scalar }];
      }),
    ),
  });
  const order = new GraphQLEnumType({ name: "DnsAnalyticsOrder", values: mapValues(ORDERS, (value) => ({ value })) });
  const sum = new GraphQLObjectType({
    name: "DnsAnalyticsSum",
    fields: { queryBytes: { type: GraphQLFloat }, responseBytes: { type: GraphQLFloat } },
  });
  const group = new GraphQLObjectType({
    name: "DnsAnalyticsAdaptiveGroup",
    fields: { count: { type: GraphQLFloat }, dimensions: { type: dimensions }, sum: { type: sum } },
  });
  return {
    description: "Questions that the nameservers answered for the zone, counted by what is asked of dimensions.",
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(group))),
    args: {
      limit: { type: new GraphQLNonNull(GraphQLInt) },
      filter: { type: filter },
      orderBy: { type: new GraphQLList(new GraphQLNonNull(order)) },
    },
    resolve: ({ zoneTag }, { limit, filter: given = {}, orderBy = [] }, { req, count }, info) => {
      if (limit < 1 || limit > DNS_GROUPS_MAX)
        throw new PlatformError("invalid_input", { message: `limit must be between 1 and ${DNS_GROUPS_MAX}` });
      count();
      return req.control.dnsAnalytics.groups(req.call, zoneTag, {
        limit,
        filters: Object.entries(given).map(([name, value]) => filterOf(name, value)),
        dimensions: selectedFields(info, "dimensions").filter((name) => name in DNS_DIMENSIONS) as DnsDimensionName[],
        order: orderBy.map((by) => by as unknown as (typeof ORDERS)[string]),
      });
    },
  };
}

/** `queryName_neq` and all others, by name. */
const FILTERS: Readonly<Record<string, { readonly dimension: DnsDimensionName; readonly operator: DnsFilterOperator }>> =
  Object.fromEntries(
    DNS_DIMENSION_NAMES.flatMap((dimension) =>
      Object.entries(DNS_FILTER_OPERATORS[DNS_DIMENSIONS[dimension].kind]).map(([suffix, operator]) => [
        `${dimension}${suffix}`,
        { dimension, operator },
      ]),
    ),
  );

/** `count_DESC` and all others, by name. */
const ORDERS: Readonly<Record<string, { readonly by: DnsDimensionName | "count"; readonly direction: "asc" | "desc" }>> =
  Object.fromEntries(
    ["count" as const, ...DNS_DIMENSION_NAMES].flatMap((by) => [
      [`${by}_ASC`, { by, direction: "asc" as const }],
      [`${by}_DESC`, { by, direction: "desc" as const }],
    ]),
  );

function filterOf(name: string, value: string | number | readonly (string | number)[]): DnsFilter {
  const { dimension, operator } = FILTERS[name] as (typeof FILTERS)[string];
  const { kind } = DNS_DIMENSIONS[dimension];
  if (kind !== "time" && kind !== "date") return { dimension, operator, value };
  const ms = parseTimestamp(kind === "date" ? `${String(value)}T00:00:00Z` : String(value));
  if (ms === undefined)
    throw new PlatformError("invalid_input", {
      message: `${name} must be a ${kind === "date" ? "date like 2030-01-31" : "time like 2030-01-31T08:00:00Z"}`,
    });
  // The whole day is meant.
  return { dimension, operator, value: kind === "date" && (operator === "le" || operator === "gt") ? ms + DAY_MS - 1 : ms };
}

const mapValues = <T, U>(values: Readonly<Record<string, T>>, work: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, work(value)]));
