import type * as GraphQl from "graphql";
import type { Req } from "#api/route.ts";
import type { AnalyticsScope } from "#model/analytics.ts";

/** What resolvers get besides the query. */
export interface GraphQlContext {
  readonly req: Pick<Req<string, unknown, unknown>, "control" | "call">;
  /** Called for each node with the rows it may give; throws where one request asks for too many. */
  spend(limit: number): void;
}

/** The zone or account that a node stands in. */
export interface ScopeSource {
  readonly scope: AnalyticsScope;
}

export interface Scalars {
  readonly time: GraphQl.GraphQLScalarType;
  readonly date: GraphQl.GraphQLScalarType;
}

export type FieldConfig = GraphQl.GraphQLFieldConfig<ScopeSource, GraphQlContext>;
