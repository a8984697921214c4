import { type Static, Type } from "typebox";
import { exportOf, LOG_FILTERS, Statuses, tailOf, Text, Texts } from "./log-filter.ts";

const Fields = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]));

/** What rules of `http_log_custom_fields` asked for; each member is there where a rule names one of its kind. */
const CustomFields = Type.Partial(
  Type.Object({
    cookies: Fields,
    request_headers: Fields,
    transformed_request_headers: Fields,
    response_headers: Fields,
    raw_response_headers: Fields,
  }),
);

/** One request that the edge answered, as it was written down. */
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
  /** Empty where the cache was not asked. */
  cache_status: Type.String(),
  /** Empty where the edge did not refuse or answer the request itself. */
  edge_error: Type.String(),
  /** Tells apart causes that share a code, such as the four of 1016; empty where `edge_error` is. */
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
  /** `hit`, `miss`, …, in any case. */
  cache_status: Texts,
  /** What the edge itself refused or answered the request with. */
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

/** `last_event_id` is a ray. */
export const LoggedRequestTail = tailOf(FILTERS);
export type LoggedRequestTail = Static<typeof LoggedRequestTail>;
