import type * as GraphQl from "graphql";
import type { EventsKept } from "#control/analytics/analytics.ts";
import { ANALYTICS_LIMIT_MAX, ANALYTICS_NODES } from "#model/analytics.ts";
import { ALWAYS_NULL } from "./analytics-types.ts";
import type { FieldConfig, GraphQlContext } from "./context.ts";
import { VALUES_IN_ROW_MAX } from "./turns.ts";

const INT_MAX = 2 ** 31 - 1;
const MINUTE_MS = 60_000;

/** What the answers of a node are made of, where they reach back the longest. */
function madeOf(name: string): keyof EventsKept {
  const node = ANALYTICS_NODES.find((known) => known.name === name);
  if (node?.kind === "rows") return "rows";
  return node?.intervalMs === MINUTE_MS ? "minutes" : "hours";
}

/** What the nodes beside it allow, as clients ask for it before they ask for data. */
export function settingsField(
  graphql: typeof GraphQl,
  nodes: Readonly<Record<string, FieldConfig>>,
  scope: "Zone" | "Account",
): FieldConfig {
  const { GraphQLBoolean, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } = graphql;
  const settings = Object.entries(nodes).map(([name, { type }]) => {
    const fields = fieldNames(graphql, type);
    const kept = madeOf(name);
    const keptSeconds = ({ req }: GraphQlContext): number => Math.min(req.control.analytics.keptSeconds[kept], INT_MAX);
    const node = new GraphQLObjectType<unknown, GraphQlContext>({
      name: `${scope}Settings${name}`,
      fields: {
        enabled: { type: GraphQLBoolean, resolve: () => true },
        // A list costs as a node does, however often it is asked for.
        availableFields: {
          type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
          resolve: (_settings, _args, context, info) => context.inTurn(info, async () => fields),
        },
        maxPageSize: { type: GraphQLInt, resolve: () => ANALYTICS_LIMIT_MAX },
        maxNumberOfFields: { type: GraphQLInt, resolve: () => VALUES_IN_ROW_MAX },
        maxDuration: { type: GraphQLInt, resolve: (_settings, _args, context) => keptSeconds(context) },
        notOlderThan: { type: GraphQLInt, resolve: (_settings, _args, context) => keptSeconds(context) },
      },
    });
    return [name, { type: node, resolve: () => ({}) }] as const;
  });
  return { type: new GraphQLObjectType({ name: `${scope}Settings`, fields: Object.fromEntries(settings) }), resolve: () => ({}) };
}

const isTold = ({ description }: GraphQl.GraphQLField<unknown, unknown>): boolean => description !== ALWAYS_NULL;

/** What a node shows and has something to say of, as orders name it: dimensions by their names, measures behind their kinds. */
function fieldNames(graphql: typeof GraphQl, type: GraphQl.GraphQLOutputType): readonly string[] {
  const fieldsOf = (of: GraphQl.GraphQLOutputType): readonly GraphQl.GraphQLField<unknown, unknown>[] => {
    const named = graphql.getNamedType(of);
    return graphql.isObjectType(named) ? Object.values(named.getFields()) : [];
  };
  return fieldsOf(type).flatMap((field) => {
    const inner = fieldsOf(field.type);
    if (inner.length === 0 || graphql.isListType(field.type)) return [field].filter(isTold).map(({ name }) => name);
    return inner.filter(isTold).map(({ name }) => (field.name === "dimensions" ? name : `${field.name}_${name}`));
  });
}
