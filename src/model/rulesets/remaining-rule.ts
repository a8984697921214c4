import { type Static, Type } from "typebox";

/** A firewall rule or rate limit of the interfaces that ended on 2025-06-15, in the form of a rule of a ruleset. */
export const RemainingRule = Type.Object({
  id: Type.String(),
  kind: Type.Enum(["firewall_rule", "rate_limit"]),
  phase: Type.String({ description: "The phase that it runs in, before the zone's own rules." }),
  action: Type.String(),
  action_parameters: Type.Record(Type.String(), Type.Unknown()),
  expression: Type.String(),
  description: Type.String(),
  enabled: Type.Boolean(),
  ratelimit: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type RemainingRule = Static<typeof RemainingRule>;
