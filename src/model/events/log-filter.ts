import { type TSchema, Type } from "typebox";

const TEXT = Type.String({ minLength: 1, maxLength: 2048 });
export const Text = Type.Optional(TEXT);
/** Given more than once, any of the values may hold. */
export const Texts = Type.Optional(Type.Union([TEXT, Type.Array(TEXT, { maxItems: 100 })]));
export const Statuses = Type.Optional(Type.Union([Type.Integer(), Type.Array(Type.Integer(), { maxItems: 100 })]));

/** By what both the activity log and request logs are looked through. */
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

/** What an export takes besides the filters: all that fits, unless `limit` says how much. */
export const exportOf = <const F extends Record<string, TSchema>>(filters: F) =>
  Type.Object({
    ...filters,
    format: Type.Optional(Type.Enum(["ndjson", "csv"])),
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
  });

/**
 * `last_event_id`: goes on behind the event of this id, as clients of event streams say it in a header when they come back.
 * `for_seconds`: ends after this time, or goes on until the client leaves.
 */
export const tailOf = <const F extends Record<string, TSchema>>(filters: F) =>
  Type.Object({
    ...filters,
    last_event_id: Text,
    for_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  });
