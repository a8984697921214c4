import { type Static, Type } from "typebox";

/** One condition on gateway logs (reference, part B). */
export const GatewayLogFilter = Type.Object({
  key: Type.Enum([
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
    "user_agent",
  ]),
  operator: Type.Enum(["eq", "neq", "contains", "lt", "gt"]),
  value: Type.Array(Type.Union([Type.String({ maxLength: 1024 }), Type.Number(), Type.Boolean(), Type.Null()]), { maxItems: 100 }),
});
export type GatewayLogFilter = Static<typeof GatewayLogFilter>;

export const GatewayLogFilters = Type.Array(GatewayLogFilter, { maxItems: 50 });
