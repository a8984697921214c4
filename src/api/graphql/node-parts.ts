import type * as GraphQl from "graphql";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ANALYTICS_LIMIT_MAX } from "#model/events/analytics.ts";
import type { FilterInput } from "./analytics-filter.ts";

export interface NodeArguments {
  readonly limit?: number | null;
  readonly filter?: FilterInput | null;
  readonly orderBy?: readonly unknown[] | null;
}

/** Number of requested rows or groups, within the limits. */
export function limitOf({ limit }: NodeArguments): number {
  if (limit === undefined || limit === null || limit < 1 || limit > ANALYTICS_LIMIT_MAX)
    throw new PlatformError("invalid_input", { message: `limit must be between 1 and ${ANALYTICS_LIMIT_MAX}` });
  return limit;
}

export const listOf = ({ GraphQLList, GraphQLNonNull }: typeof GraphQl, type: GraphQl.GraphQLObjectType): GraphQl.GraphQLOutputType =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));

export const nodeArguments = (
  { GraphQLInt, GraphQLList, GraphQLNonNull }: typeof GraphQl,
  filter: GraphQl.GraphQLInputObjectType,
  order: GraphQl.GraphQLEnumType,
): GraphQl.GraphQLFieldConfigArgumentMap => ({
  limit: { type: GraphQLInt },
  filter: { type: filter },
  orderBy: { type: new GraphQLList(new GraphQLNonNull(order)) },
});
