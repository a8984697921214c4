import type * as GraphQl from "graphql";
import { ANALYTICS_DATASETS, type AnalyticsNode } from "#model/events/analytics.ts";
import type { SensitiveDataValues } from "#model/events/security-event.ts";
import { filtersOf } from "./analytics-filter.ts";
import { bothWays, type DatasetTypes, type Direction } from "./analytics-types.ts";
import type { FieldConfig, Scalars, ScopeSource } from "./context.ts";
import { limitOf, listOf, nodeArguments, type NodeArguments } from "./node-parts.ts";

type Found = SensitiveDataValues["values"][number];

const ORDERS = {
  count: ({ events }: Found) => events,
  firstSeen: ({ first_seen }: Found) => Date.parse(first_seen),
  lastSeen: ({ last_seen }: Found) => Date.parse(last_seen),
} as const;

interface ValueOrder {
  readonly by: keyof typeof ORDERS;
  readonly direction: Direction;
}

/** Security events by the hash of the sensitive value that they found, as the API lists them. */
export function sensitiveValuesNode(
  graphql: typeof GraphQl,
  { time }: Scalars,
): (node: AnalyticsNode, types: Pick<DatasetTypes, "filter">) => FieldConfig {
  const { GraphQLBoolean, GraphQLEnumType, GraphQLFloat, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } = graphql;
  const text = { type: GraphQLString };
  const texts = { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))) };
  const dimensions = new GraphQLObjectType({
    name: "SensitiveDataValueDimensions",
    description: "The value, and the last place where it was found.",
    fields: { valueHash: text, confidence: text, clientRequestHTTPHost: text, clientRequestPath: text, jsonPath: text },
  });
  const node = new GraphQLObjectType({
    name: "SensitiveDataValue",
    description: "A sensitive value, and the events that found it.",
    fields: {
      count: { type: GraphQLFloat },
      firstSeen: { type: time },
      lastSeen: { type: time },
      ruleIds: texts,
      detectors: texts,
      isComplete: { type: GraphQLBoolean, description: "False if there are events or values beyond those that were read." },
      dimensions: { type: dimensions },
    },
  });
  const orders = Object.keys(ORDERS) as readonly (keyof typeof ORDERS)[];
  const order = new GraphQLEnumType({ name: "SensitiveDataValueOrder", values: bothWays(orders.map((name) => [name, name])) });

  return (_node, { filter }) => ({
    type: listOf(graphql, node),
    args: nodeArguments(graphql, filter, order),
    resolve: async ({ scope }: ScopeSource, args: NodeArguments, context, info) => {
      const filters = filtersOf(ANALYTICS_DATASETS.firewallEvents, args.filter ?? {});
      const limit = limitOf(args);
      const find = async () => {
        const { values, is_complete } = await context.req.control.analytics.values(context.req.call, scope, filters);
        const ordered = inOrder(values, (args.orderBy ?? []) as readonly ValueOrder[]);
        return ordered.slice(0, limit).map((value) => ({ value, is_complete }));
      };
      return context.inTurn(info, { scope, find, show: ({ value, is_complete }) => ({ ...shown(value), isComplete: is_complete }) });
    },
  });
}

/** The last seen first, if nothing else is asked for. */
function inOrder(values: readonly Found[], orders: readonly ValueOrder[]): readonly Found[] {
  return values.toSorted((a, b) => {
    for (const { by, direction } of orders) {
      const difference = ORDERS[by](a) - ORDERS[by](b);
      if (difference !== 0) return direction === "asc" ? difference : -difference;
    }
    return 0;
  });
}

const shown = ({ value_hash, events, first_seen, last_seen, rule_ids, detectors, confidence, host, path, json_path }: Found): object => ({
  count: events,
  firstSeen: inSeconds(first_seen),
  lastSeen: inSeconds(last_seen),
  ruleIds: rule_ids,
  detectors,
  dimensions: { valueHash: value_hash, confidence, clientRequestHTTPHost: host, clientRequestPath: path, jsonPath: json_path ?? null },
});

/** As the other times of analytics. */
const inSeconds = (time: string): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
