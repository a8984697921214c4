import { type Static, Type } from "typebox";

/** One entry of a zone's activity log (SPEC 6; its fields are not shown there). */
export const SecurityEvent = Type.Object({
  id: Type.String(),
  ray_id: Type.String(),
  /** Also as ISO 8601 in `occurred_at`. */
  at_ms: Type.Integer(),
  occurred_at: Type.String({ format: "date-time" }),
  account_id: Type.String(),
  zone_id: Type.String(),
  ruleset_id: Type.String(),
  rule_id: Type.String(),
  deployed_by: Type.String(),
  rule_description: Type.String(),
  phase: Type.String(),
  action: Type.String(),
  service: Type.String(),
  client_ip: Type.String(),
  country: Type.String(),
  method: Type.String(),
  scheme: Type.String(),
  host: Type.String(),
  path: Type.String(),
  query: Type.String(),
  user_agent: Type.String(),
  status: Type.Integer(),
  matches: Type.Array(
    Type.Object({
      detector: Type.String(),
      rule_id: Type.String(),
      count: Type.Integer(),
      offset: Type.Integer(),
      confidence: Type.Enum(["low", "medium", "high"]),
      json_path: Type.Optional(Type.String()),
      value_hash: Type.Optional(Type.String()),
      sample: Type.Optional(Type.String()),
      matched_data: Type.Optional(Type.String()),
    }),
  ),
  scan_limited: Type.Boolean(),
});
export type SecurityEvent = Static<typeof SecurityEvent>;

const TEXT = Type.String({ minLength: 1, maxLength: 2048 });
const Text = Type.Optional(TEXT);
/** Given more than once, any of the values may hold. */
const Texts = Type.Optional(Type.Union([TEXT, Type.Array(TEXT, { maxItems: 100 })]));

const FILTERS = {
  /** A managed or own ruleset. */
  ruleset_id: Texts,
  /** Also finds events that list the rule among their matches, and those of the execute rule with this id. */
  rule_id: Texts,
  action: Texts,
  service: Texts,
  phase: Texts,
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
  status: Type.Optional(Type.Union([Type.Integer(), Type.Array(Type.Integer(), { maxItems: 100 })])),
  ray_id: Text,
} as const;

export const SecurityEventFilter = Type.Object(FILTERS);
export type SecurityEventFilter = Static<typeof SecurityEventFilter>;

/** `cursor` goes on behind the last event shown and costs the same however far that is; it takes the place of `page`. */
export const SecurityEventQuery = Type.Object({ ...FILTERS, cursor: Text });
export type SecurityEventQuery = Static<typeof SecurityEventQuery>;

export const EVENT_EXPORT_ROWS_MAX = 1_000_000;

export const SecurityEventExport = Type.Object({
  ...FILTERS,
  format: Type.Optional(Type.Enum(["ndjson", "csv"])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: EVENT_EXPORT_ROWS_MAX })),
});
export type SecurityEventExport = Static<typeof SecurityEventExport>;

/**
 * `last_event_id`: goes on behind the event of this id, as clients of event streams say it in a header when they come back.
 * `for_seconds`: ends after this time, or goes on until the client leaves.
 */
export const SecurityEventTail = Type.Object({
  ...FILTERS,
  last_event_id: Text,
  for_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
});
export type SecurityEventTail = Static<typeof SecurityEventTail>;
