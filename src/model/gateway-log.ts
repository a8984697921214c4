import { type Static, Type } from "typebox";

/** One request through a gateway, as lists show it (contract.md §8). */
export const GatewayLog = Type.Object({
  /** ULID; the gateway named it to the client in its log-id header. */
  id: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  provider: Type.String(),
  model: Type.String(),
  model_type: Type.String(),
  /** Below the provider, without the query. */
  path: Type.String(),
  success: Type.Boolean(),
  cached: Type.Boolean(),
  /** Milliseconds. */
  duration: Type.Integer(),
  tokens_in: Type.Union([Type.Integer(), Type.Null()]),
  tokens_out: Type.Union([Type.Integer(), Type.Null()]),
  /** Null where no price is known. */
  cost: Type.Union([Type.Number(), Type.Null()]),
  custom_cost: Type.Boolean(),
  request_type: Type.String(),
  request_content_type: Type.String(),
  response_content_type: Type.String(),
  status_code: Type.Integer(),
  step: Type.Integer(),
});
export type GatewayLog = Static<typeof GatewayLog>;

export const GatewayLogDetail = Type.Object({
  ...GatewayLog.properties,
  /** Bytes. */
  request_size: Type.Integer(),
  response_size: Type.Integer(),
});
export type GatewayLogDetail = Static<typeof GatewayLogDetail>;

const Direction = Type.Enum(["asc", "desc"]);

export const GatewayLogList = Type.Object({
  /** Part of the id, provider, model or path. */
  search: Type.Optional(Type.String({ maxLength: 256 })),
  order_by: Type.Optional(Type.Enum(["created_at", "provider", "model", "model_type", "success", "cached"])),
  order_by_direction: Type.Optional(Direction),
  /** The older name of order_by_direction. */
  direction: Type.Optional(Direction),
});
export type GatewayLogList = Static<typeof GatewayLogList>;
