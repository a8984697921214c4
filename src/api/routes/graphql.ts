import { Type } from "typebox";
import { executeGraphQl } from "#api/graphql/execute-graphql.ts";
import { type Route, route } from "#api/route.ts";

const Body = Type.Object({
  query: Type.String({ minLength: 1, maxLength: 65_536 }),
  variables: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  operationName: Type.Optional(Type.Union([Type.String({ maxLength: 255 }), Type.Null()])),
});

export const GRAPHQL_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/graphql",
    id: "graphql",
    summary: "Ask the analytics by a GraphQL query",
    scope: "open",
    permissions: [],
    body: Body,
    result: Type.String(),
    paging: "raw",
    media_type: "application/json",
    handler: async ({ control, call, body }) => ({
      type: "application/json; charset=utf-8",
      body: JSON.stringify(await executeGraphQl(body, { control, call })),
    }),
  }),
];
