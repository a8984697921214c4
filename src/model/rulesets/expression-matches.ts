import { type Static, Type } from "typebox";

export const MATCHED_REQUESTS_MAX = 5000;

/** An unsaved expression, and the recent requests of the zone that it is evaluated for. */
export const ExpressionMatchesQuery = Type.Object(
  {
    expression: Type.String({ maxLength: 8192 }),
    phase: Type.String({ maxLength: 64 }),
    requests: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MATCHED_REQUESTS_MAX, default: 1000, description: "How many of the newest requests." }),
    ),
  },
  { additionalProperties: false },
);
export type ExpressionMatchesQuery = Static<typeof ExpressionMatchesQuery>;

export const ExpressionMatches = Type.Object({
  evaluated: Type.Integer({ description: "Requests that the expression was evaluated for." }),
  matched: Type.Integer(),
  since: Type.Union([Type.String({ format: "date-time" }), Type.Null()], { description: "Time of the oldest of them; null without any." }),
  unrecorded_fields: Type.Array(Type.String(), {
    description:
      "Fields of the expression that the request log does not contain. They have no value here, so `matched` can be too high or too low.",
  }),
  examples: Type.Array(
    Type.Object({
      ray_id: Type.String(),
      occurred_at: Type.String({ format: "date-time" }),
      client_ip: Type.String(),
      country: Type.String(),
      method: Type.String(),
      host: Type.String(),
      path: Type.String(),
      query: Type.String(),
      user_agent: Type.String(),
      status: Type.Integer(),
    }),
    { description: "The newest that match, at most 20." },
  ),
});
export type ExpressionMatches = Static<typeof ExpressionMatches>;
