import type * as GraphQl from "graphql";
import { PlatformError } from "#kernel/errors.ts";
import { dnsAnalyticsField, type GraphQlContext } from "./dns-analytics-fields.ts";

export interface GraphQlRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
}

/** A query of more than these is refused before it is understood. */
const TOKENS_MAX = 2_000;
/** Counts that one request may ask for; each may read many rows. */
const COUNTS_MAX = 20;

/** The response of GraphQL itself (its specification, §7), without the envelope: errors stand beside the data. */
export async function executeGraphQl(request: GraphQlRequest, req: GraphQlContext["req"]): Promise<object> {
  const { graphql, schema } = await (loaded ??= load());
  let document: GraphQl.DocumentNode;
  try {
    document = graphql.parse(request.query, { maxTokens: TOKENS_MAX });
  } catch (error) {
    return { data: null, errors: [shownError(error)] };
  }
  const problems = graphql.validate(schema, document);
  if (problems.length > 0) return { data: null, errors: problems.map(shownError) };
  let counts = 0;
  const count = (): void => {
    counts += 1;
    if (counts > COUNTS_MAX) throw new PlatformError("invalid_input", { message: `one request may hold at most ${COUNTS_MAX} counts` });
  };
  const { data = null, errors } = await graphql.execute({
    schema,
    document,
    contextValue: { req, count } satisfies GraphQlContext,
    variableValues: request.variables ?? {},
    operationName: request.operationName ?? null,
  });
  return { data, errors: errors?.map(shownError) ?? null };
}

let loaded: Promise<{ readonly graphql: typeof GraphQl; readonly schema: GraphQl.GraphQLSchema }> | undefined;

/** Loaded with the first query: most installations start without ever needing it. */
async function load() {
  const graphql = await import("graphql");
  return { graphql, schema: createSchema(graphql) };
}

function createSchema(graphql: typeof GraphQl): GraphQl.GraphQLSchema {
  const { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString } =
    graphql;
  const time = new GraphQLScalarType({ name: "Time", description: "ISO 8601, as 2030-01-31T08:00:00Z." });
  const date = new GraphQLScalarType({ name: "Date", description: "As 2030-01-31." });
  const zone = new GraphQLObjectType<{ zoneTag: string }, GraphQlContext>({
    name: "Zone",
    fields: {
      zoneTag: { type: new GraphQLNonNull(GraphQLString) },
      dnsAnalyticsAdaptiveGroups: dnsAnalyticsField(graphql, { time, date }),
    },
  });
  const zoneFilter = new GraphQLInputObjectType({ name: "ZoneFilter", fields: { zoneTag: { type: new GraphQLNonNull(GraphQLString) } } });
  const viewer = new GraphQLObjectType<unknown, GraphQlContext>({
    name: "Viewer",
    fields: {
      zones: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(zone))),
        args: { filter: { type: new GraphQLNonNull(zoneFilter) } },
        resolve: (_parent, { filter }: { readonly filter: { readonly zoneTag: string } }) => [{ zoneTag: filter.zoneTag }],
      },
    },
  });
  const query = new GraphQLObjectType({ name: "Query", fields: { viewer: { type: new GraphQLNonNull(viewer), resolve: () => ({}) } } });
  return new GraphQLSchema({ query });
}

/** An error of the caller's, or one that PlatformError says may be told; anything else is thrown, for the server to handle. */
function shownError(error: unknown): object {
  const { message, path, locations, originalError } = error as GraphQl.GraphQLError;
  const at = { path: path ?? null, locations: locations ?? null };
  if (originalError instanceof PlatformError) return { message: originalError.message, ...at, extensions: { code: originalError.code } };
  if (!originalError || originalError.name === "GraphQLError") return { message, ...at, extensions: { code: "invalid_input" } };
  throw originalError;
}
