import type * as GraphQl from "graphql";
import type { Req } from "#api/route.ts";
import type { AnalyticsScope } from "#model/events/analytics.ts";
import type { SerialExecutor } from "./serial-executor.ts";

/** Context of resolvers besides the query. */
export interface GraphQlContext {
  readonly req: Pick<Req<string, unknown, unknown>, "control" | "call">;
  /** Zones and accounts whose analytics the caller may read, loaded once per request and only if needed. */
  readonly seen: Partial<Record<"zone" | "account", Promise<readonly string[]>>>;
  /** Every node does its reads in this. */
  readonly inTurn: SerialExecutor["run"];
}

/** The zone or account of a node. */
export interface ScopeSource {
  readonly scope: AnalyticsScope;
}

export interface Scalars {
  readonly time: GraphQl.GraphQLScalarType;
  readonly date: GraphQl.GraphQLScalarType;
}

export type FieldConfig = GraphQl.GraphQLFieldConfig<ScopeSource, GraphQlContext>;
