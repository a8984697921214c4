import { type Static, Type } from "typebox";
import { exportOf, LOG_FILTERS, tailOf, Text, Texts } from "./log-filter.ts";

/** One entry of a zone's activity log (SPEC 6, which does not list its fields). */
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
      part: Type.Optional(Type.String()),
      name: Type.Optional(Type.String()),
      score: Type.Optional(Type.Integer()),
      json_path: Type.Optional(Type.String()),
      value_hash: Type.Optional(Type.String()),
      sample: Type.Optional(Type.String()),
      matched_data: Type.Optional(Type.String()),
    }),
  ),
  scan_limited: Type.Boolean(),
});
export type SecurityEvent = Static<typeof SecurityEvent>;

const FILTERS = {
  ...LOG_FILTERS,
  /** A managed or custom ruleset. */
  ruleset_id: Texts,
  /** Also matches events with the rule among their matches, and those of the execute rule with this id. */
  rule_id: Texts,
  action: Texts,
  service: Texts,
  phase: Texts,
  /** Events with this value among their matches, by its hash (32 hexadecimal characters). */
  value_hash: Texts,
} as const;

export const SecurityEventFilter = Type.Object(FILTERS);
export type SecurityEventFilter = Static<typeof SecurityEventFilter>;

/** `cursor` continues after the last event of a page, at the same cost at any depth; it replaces `page`. */
export const SecurityEventQuery = Type.Object({ ...FILTERS, cursor: Text });
export type SecurityEventQuery = Static<typeof SecurityEventQuery>;

export const SecurityEventExport = exportOf(FILTERS);
export type SecurityEventExport = Static<typeof SecurityEventExport>;

export const SecurityEventTail = tailOf(FILTERS);
export type SecurityEventTail = Static<typeof SecurityEventTail>;

/** `since` and `until` bound the read rows; the other filters choose events. */
export const SensitiveDataValuesQuery = Type.Object(FILTERS);
export type SensitiveDataValuesQuery = Static<typeof SensitiveDataValuesQuery>;

/** The values that events of sensitive data tell of, each once, the last seen first. */
export const SensitiveDataValues = Type.Object({
  /** The events that count. */
  events_read: Type.Integer(),
  /**
   * False if there are older events or more values; a later `until` or further filters show those. With times and one value as the only
   * filters, every event of whole hours counts; otherwise the newest 10,000.
   */
  is_complete: Type.Boolean(),
  values: Type.Array(
    Type.Object({
      value_hash: Type.String(),
      rule_ids: Type.Array(Type.String()),
      detectors: Type.Array(Type.String()),
      /** The highest of its matches. */
      confidence: Type.Enum(["low", "medium", "high"]),
      first_seen: Type.String({ format: "date-time" }),
      last_seen: Type.String({ format: "date-time" }),
      /** Events in which it is the first match of a rule. */
      events: Type.Integer(),
      /** The last place. */
      host: Type.String(),
      path: Type.String(),
      json_path: Type.Optional(Type.String()),
    }),
  ),
});
export type SensitiveDataValues = Static<typeof SensitiveDataValues>;
