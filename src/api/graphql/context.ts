import type * as GraphQl from "graphql";
import type { Req } from "#api/route.ts";
import type { AnalyticsScope } from "#model/events/analytics.ts";
import type { InTurn } from "./serial-executor.ts";

/** What resolvers get besides the query. */
export interface GraphQlContext {
  readonly req: Pick<Req<string, unknown, unknown>, "control" | "call">;
  /** Zones and accounts that the caller may read analytics of, read once a request and only if asked for. */
  readonly seen: Partial<Record<"zone" | "account", Promise<readonly string[]>>>;
  /** Every node does its reading in this. */
  readonly inTurn: InTurn;
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
