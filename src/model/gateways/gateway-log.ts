import { type Static, Type } from "typebox";

const Count = Type.Union([Type.Integer(), Type.Null()]);

/** One request through a gateway, as in lists (contract.md §8). */
export const GatewayLog = Type.Object({
  /** ULID; the client received it in the log-id header. */
  id: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  provider: Type.String(),
  model: Type.String(),
  /** `llm`, `embedding`, `image`, `audio`, …; empty if the path does not determine it. */
  model_type: Type.String(),
  /** Relative to the provider, without the query. */
  path: Type.String(),
  success: Type.Boolean(),
  cached: Type.Boolean(),
  /** Milliseconds. */
  duration: Type.Integer(),
  tokens_in: Count,
  tokens_out: Count,
  /** Null if the price is unknown. */
  cost: Type.Union([Type.Number(), Type.Null()]),
  custom_cost: Type.Boolean(),
  /** JSON of the request's metadata; empty if none. */
  metadata: Type.String(),
  /** `chat`, `responses`, `embedding`, …; empty if the path does not determine it. */
  request_type: Type.String(),
  request_content_type: Type.String(),
  response_content_type: Type.String(),
  status_code: Type.Integer(),
  step: Type.Integer(),
  event_id: Type.String(),
  user_agent: Type.String(),
  /** Milliseconds until the first byte of the response; null if none arrived. */
  time_to_first_byte: Count,
  /** Parts of tokens_in and tokens_out; null if the provider does not report them. */
  tokens_in_cached: Count,
  tokens_in_cache_written: Count,
  tokens_out_reasoning: Count,
  /** The gateway estimated the tokens, because the provider did not report them. */
  tokens_estimated: Type.Boolean(),
  authentication: Type.Boolean(),
  compatibility_mode: Type.Boolean(),
  dlp_action: Type.String(),
  /** `FLAG` or `BLOCK`; empty if the guardrails found nothing. */
  guardrail_action: Type.String(),
  /** JSON with the hazards of each side: `{"prompt":["S1"]}`; empty if the guardrails found nothing. */
  guardrail_findings: Type.String(),
  feedback: Type.Union([Type.Integer(), Type.Null()]),
  score: Type.Union([Type.Number(), Type.Null()]),
});
export type GatewayLog = Static<typeof GatewayLog>;

export const GatewayLogDetail = Type.Object({
  ...GatewayLog.properties,
  /** The beginning of the body as text; empty if none is stored. */
  request_head: Type.String(),
  request_head_complete: Type.Boolean(),
  /** Bytes. */
  request_size: Type.Integer(),
  response_head: Type.String(),
  response_head_complete: Type.Boolean(),
  response_size: Type.Integer(),
});
export type GatewayLogDetail = Static<typeof GatewayLogDetail>;

const Direction = Type.Enum(["asc", "desc"]);
const Filters = Type.Optional(
  Type.String({
    maxLength: 16_384,
    description: "A JSON array of { key, operator, value: [] }. All filters must match; within a filter, any of its values.",
  }),
);
const Amount = Type.Optional(Type.Number());
const Text = Type.Optional(Type.String({ maxLength: 256 }));

export const GatewayLogList = Type.Object({
  /** Part of the id, provider, model, path, event or metadata. */
  search: Type.Optional(Type.String({ maxLength: 256 })),
  order_by: Type.Optional(Type.Enum(["created_at", "provider", "model", "model_type", "success", "cached"])),
  order_by_direction: Type.Optional(Direction),
  filters: Filters,
  /** Adds the least and largest cost, duration and tokens to result_info. */
  meta_info: Type.Optional(Type.Boolean()),
  /** The older name of order_by_direction; the following parameters are older than `filters`. */
  direction: Type.Optional(Direction),
  start_date: Text,
  end_date: Text,
  min_cost: Amount,
  max_cost: Amount,
  min_tokens_in: Amount,
  max_tokens_in: Amount,
  min_tokens_out: Amount,
  max_tokens_out: Amount,
  min_total_tokens: Amount,
  max_total_tokens: Amount,
  min_duration: Amount,
  max_duration: Amount,
  feedback: Amount,
  success: Type.Optional(Type.Boolean()),
  cached: Type.Optional(Type.Boolean()),
  model: Text,
  model_type: Text,
  provider: Text,
  request_content_type: Text,
  response_content_type: Text,
});
export type GatewayLogList = Static<typeof GatewayLogList>;

export const GatewayLogDelete = Type.Object({
  filters: Filters,
  order_by: Type.Optional(
    Type.Enum([
      "created_at",
      "provider",
      "model",
      "model_type",
      "success",
      "cached",
      "cost",
      "tokens_in",
      "tokens_out",
      "duration",
      "feedback",
    ]),
  ),
  order_by_direction: Type.Optional(Direction),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
});
export type GatewayLogDelete = Static<typeof GatewayLogDelete>;

export const GatewayLogPatch = Type.Object({
  feedback: Type.Optional(Type.Union([Type.Integer({ minimum: -1, maximum: 1 }), Type.Null()])),
  score: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()])),
  /** Replaces the request's metadata; at most five entries. */
  metadata: Type.Optional(
    Type.Union([
      Type.Record(Type.String({ maxLength: 256 }), Type.Union([Type.String({ maxLength: 4096 }), Type.Number(), Type.Boolean()]), {
        maxProperties: 5,
      }),
      Type.Null(),
    ]),
  ),
});
export type GatewayLogPatch = Static<typeof GatewayLogPatch>;
