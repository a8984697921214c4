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
    }),
  ),
  scan_limited: Type.Boolean(),
});
export type SecurityEvent = Static<typeof SecurityEvent>;

const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 2048 }));

export const SecurityEventQuery = Type.Object({
  /** A managed or own ruleset. */
  ruleset_id: Text,
  /** Also finds events that list the rule among their matches, and those of the execute rule with this id. */
  rule_id: Text,
  action: Text,
  service: Text,
  /** RFC 3339, inclusive. */
  since: Text,
  /** RFC 3339, exclusive. */
  until: Text,
  host: Text,
  path: Text,
  client_ip: Text,
  ray_id: Text,
});
export type SecurityEventQuery = Static<typeof SecurityEventQuery>;
