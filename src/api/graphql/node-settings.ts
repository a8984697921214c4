import type * as GraphQl from "graphql";
import { ANALYTICS_LIMIT_MAX } from "#model/events/analytics.ts";
import { ALWAYS_NULL } from "./analytics-types.ts";
import type { FieldConfig, GraphQlContext } from "./context.ts";
import { reachOf } from "./node-reach.ts";
import { VALUES_IN_ROW_MAX } from "./serial-executor.ts";

/** The limits of the nodes beside it, which clients read before they request data. */
export function settingsField(
  graphql: typeof GraphQl,
  nodes: Readonly<Record<string, FieldConfig>>,
  scope: "Zone" | "Account",
): FieldConfig {
  const { GraphQLBoolean, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } = graphql;
  const settings = Object.entries(nodes).map(([name, { type }]) => {
    const fields = fieldNames(graphql, type);
    const reach = reachOf(name);
    const numbers: Readonly<Record<string, (context: GraphQlContext) => number>> = {
      maxPageSize: () => ANALYTICS_LIMIT_MAX,
      maxNumberOfFields: () => VALUES_IN_ROW_MAX,
      maxDuration: reach,
      notOlderThan: reach,
    };
    const node = new GraphQLObjectType<unknown, GraphQlContext>({
      name: `${scope}Settings${name}`,
      fields: {
        enabled: { type: GraphQLBoolean, resolve: () => true },
        // A list costs as much as a node, however often it is requested.
        availableFields: {
          type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
          resolve: (_settings, _args, context, info) =>
            context.inTurn(info, { scope: null, find: async () => fields, show: (field) => field }),
        },
        ...Object.fromEntries(
          Object.entries(numbers).map(([key, of]) => [
            key,
            { type: GraphQLInt, resolve: (_settings: unknown, _args: unknown, context: GraphQlContext) => of(context) },
          ]),
        ),
      },
    });
    return [name, { type: node, resolve: () => ({}) }] as const;
  });
  return { type: new GraphQLObjectType({ name: `${scope}Settings`, fields: Object.fromEntries(settings) }), resolve: () => ({}) };
}

const isTold = ({ description }: GraphQl.GraphQLField<unknown, unknown>): boolean => description !== ALWAYS_NULL;

/** The available fields of a node, as orders name them: dimensions by name, measures after their kind. */
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
