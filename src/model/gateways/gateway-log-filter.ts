import { type Static, Type } from "typebox";

/** One condition on gateway logs (reference, part B). */
export const GatewayLogFilter = Type.Object({
  key: Type.Enum(
    [
      "id",
      "created_at",
      "request_content_type",
      "response_content_type",
      "request_type",
      "success",
      "cached",
      "provider",
      "model",
      "model_type",
      "cost",
      "tokens",
      "tokens_in",
      "tokens_out",
      "duration",
      "feedback",
      "score",
      "event_id",
      "metadata.key",
      "metadata.value",
      "authentication",
      "wholesale",
      "compatibilityMode",
      "dlp_action",
      "guardrail_action",
      "guardrail_findings",
      "user_agent",
    ],
    { description: "A field of a log. metadata.value right after metadata.key is the value of that key." },
  ),
  operator: Type.Enum(["eq", "neq", "contains", "lt", "gt"], {
    description: "contains: a part of a text in any case of its letters. lt and gt compare numbers and times.",
  }),
  value: Type.Array(Type.Union([Type.String({ maxLength: 1024 }), Type.Number(), Type.Boolean(), Type.Null()]), {
    maxItems: 100,
    description: "Any of the values may match; for neq, none of them.",
  }),
});
export type GatewayLogFilter = Static<typeof GatewayLogFilter>;

export const GatewayLogFilters = Type.Array(GatewayLogFilter, {
  maxItems: 50,
  description: "Each with key (a field of logs), operator (eq, neq, contains, lt, gt) and value (a list). A log must match all of them.",
});
