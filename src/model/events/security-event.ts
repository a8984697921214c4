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
