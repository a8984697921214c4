import { type Static, Type } from "typebox";

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
  client_ip: Type.String(),
  method: Type.String(),
  scheme: Type.String(),
  host: Type.String(),
  path: Type.String(),
  query: Type.String(),
  user_agent: Type.String(),
  status: Type.Integer(),
  origin_status: Type.Union([Type.Integer(), Type.Null()]),
  bytes_in: Type.Integer(),
  bytes_out: Type.Integer(),
  duration_ms: Type.Number(),
  custom_fields: Type.Union([CustomFields, Type.Null()]),
});
export type LoggedRequest = Static<typeof LoggedRequest>;

const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 2048 }));

const FILTERS = {
  /** RFC 3339, inclusive. */
  since: Text,
  /** RFC 3339, exclusive. */
  until: Text,
  ray_id: Text,
  host: Text,
  path: Text,
  client_ip: Text,
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 999 })),
};

export const LoggedRequestQuery = Type.Object({
  ...FILTERS,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
});
export type LoggedRequestQuery = Static<typeof LoggedRequestQuery>;

/** As that of security events; `last_event_id` is a ray. */
export const LoggedRequestTail = Type.Object({
  ...FILTERS,
  last_event_id: Text,
  for_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
});
export type LoggedRequestTail = Static<typeof LoggedRequestTail>;
