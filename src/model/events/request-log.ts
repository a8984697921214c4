import { type Static, Type } from "typebox";
import { exportOf, LOG_FILTERS, Statuses, tailOf, Text, Texts } from "./log-filter.ts";

const Fields = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]));

/** Fields that rules of `http_log_custom_fields` selected; a member exists if a rule selects fields of its kind. */
const CustomFields = Type.Partial(
  Type.Object({
    cookies: Fields,
    request_headers: Fields,
    transformed_request_headers: Fields,
    response_headers: Fields,
    raw_response_headers: Fields,
  }),
);

/** The log entry of a request that the edge answered. */
export const LoggedRequest = Type.Object({
  ray_id: Type.String(),
  at_ms: Type.Integer(),
  occurred_at: Type.String({ format: "date-time" }),
  zone_id: Type.String(),
  client_ip: Type.String(),
  country: Type.String(),
  method: Type.String(),
  scheme: Type.String(),
  host: Type.String(),
  path: Type.String(),
  query: Type.String(),
  user_agent: Type.String(),
  status: Type.Integer(),
  origin_status: Type.Union([Type.Integer(), Type.Null()]),
  /** Empty if the cache was not consulted. */
  cache_status: Type.String(),
  /** Empty unless the edge itself refused or answered the request. */
  edge_error: Type.String(),
  /** Distinguishes causes that share a code, such as the four of 1016; empty if `edge_error` is. */
  edge_error_name: Type.String(),
  bytes_in: Type.Integer(),
  bytes_out: Type.Integer(),
  duration_ms: Type.Number(),
  custom_fields: Type.Union([CustomFields, Type.Null()]),
});
export type LoggedRequest = Static<typeof LoggedRequest>;

const FILTERS = {
  ...LOG_FILTERS,
  scheme: Texts,
  origin_status: Statuses,
  /** `hit`, `miss`, …, ignoring case. */
  cache_status: Texts,
  /** The error with which the edge itself answered. */
  edge_error: Texts,
  edge_error_name: Texts,
} as const;

export const LoggedRequestFilter = Type.Object(FILTERS);
export type LoggedRequestFilter = Static<typeof LoggedRequestFilter>;

/** `cursor` as in the activity log; `limit` is an older name of `per_page`. */
export const LoggedRequestQuery = Type.Object({
  ...FILTERS,
  cursor: Text,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
});
export type LoggedRequestQuery = Static<typeof LoggedRequestQuery>;

export const LoggedRequestExport = exportOf(FILTERS);
export type LoggedRequestExport = Static<typeof LoggedRequestExport>;

/** `last_event_id` is a ray id. */
export const LoggedRequestTail = tailOf(FILTERS);
export type LoggedRequestTail = Static<typeof LoggedRequestTail>;
