import { Type } from "typebox";
import type { GraphQlContext } from "#api/graphql/context.ts";
import { executeGraphQl, type GraphQlRequest } from "#api/graphql/execute-graphql.ts";
import { type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

const Body = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 65_536 }),
  variables: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  operationName: Type.Optional(Type.Union([Type.String({ maxLength: 255 }), Type.Null()])),
});

/** Query parameters of GraphQL over HTTP. */
const InAddress = Type.Object({
  query: Body.properties.query,
  variables: Type.Optional(Type.String({ maxLength: 65_536, description: "A JSON object." })),
  operationName: Type.Optional(Type.String({ maxLength: 255 })),
});

/** Throws `invalid_input` if the text is not a JSON object. */
function variablesOf(text: string | undefined): Readonly<Record<string, unknown>> | null {
  if (text === undefined || text === "") return null;
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || (typeof value === "object" && !Array.isArray(value))) return value as Readonly<Record<string, unknown>> | null;
  } catch {
    // Reported below.
  }
  throw new PlatformError("invalid_input", { message: "variables must be a JSON object", source: "/variables" });
}

const answer = async (request: GraphQlRequest, req: GraphQlContext["req"]) => ({
  type: "application/json; charset=utf-8",
  body: await executeGraphQl(request, req),
});

export const GRAPHQL_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/graphql",
    id: "graphql",
    summary: "Query the analytics with GraphQL",
    scope: "open",
    permissions: [],
    body: Body,
    result: Type.String(),
    paging: "raw",
    media_type: "application/json",
    handler: async ({ control, call, body }) => answer(body, { control, call }),
  }),
  route({
    method: "GET",
    path: "/graphql",
    id: "graphql-get",
    summary: "Query the analytics with GraphQL in the URL",
    scope: "open",
    permissions: [],
    query: InAddress,
    result: Type.String(),
    paging: "raw",
    media_type: "application/json",
    handler: async ({ control, call, query }) => answer({ ...query, variables: variablesOf(query.variables) }, { control, call }),
  }),
];
