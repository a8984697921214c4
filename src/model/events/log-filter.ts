import { type TSchema, Type } from "typebox";

const TEXT = Type.String({ minLength: 1, maxLength: 2048 });
export const Text = Type.Optional(TEXT);
/** If repeated, any of the values may match. */
export const Texts = Type.Optional(Type.Union([TEXT, Type.Array(TEXT, { maxItems: 100 })]));
export const Statuses = Type.Optional(Type.Union([Type.Integer(), Type.Array(Type.Integer(), { maxItems: 100 })]));

/** Filters of both the activity log and request logs. */
export const LOG_FILTERS = {
  /** RFC 3339, inclusive. */
  since: Text,
  /** RFC 3339, exclusive. */
  until: Text,
  host: Texts,
  path: Texts,
  "path.contains": Text,
  method: Texts,
  country: Texts,
  user_agent: Texts,
  "user_agent.contains": Text,
  /** Addresses or networks (`192.0.2.0/24`). */
  client_ip: Texts,
  status: Statuses,
  ray_id: Text,
} as const;

/** Parameters of an export: the filters, and optionally a `limit`. */
export const exportOf = <const F extends Record<string, TSchema>>(filters: F) =>
  Type.Object({
    ...filters,
    format: Type.Optional(Type.Enum(["ndjson", "csv"])),
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
  });

/**
 * `last_event_id`: continues after the event with this id, which clients of event streams send in a header when they
 * reconnect. `for_seconds`: ends after this time; absent: when the client disconnects.
 */
export const tailOf = <const F extends Record<string, TSchema>>(filters: F) =>
  Type.Object({
    ...filters,
    last_event_id: Text,
    for_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  });
