import { type Static, Type } from "typebox";

/** Whether other accounts and custom hostnames may use the zone's name, and the names below it (SPEC 9, "Zone hold"). */
export const ZoneHold = Type.Object({
  hold: Type.Boolean(),
  /** When a released hold takes effect again; empty if it does not. */
  hold_after: Type.String(),
  include_subdomains: Type.Boolean(),
});
export type ZoneHold = Static<typeof ZoneHold>;

export const ZoneHoldEdit = Type.Object({
  hold_after: Type.Optional(
    Type.Union([
      Type.String({ maxLength: 64, description: "An RFC 3339 time. If it is in the future, the hold is off until then." }),
      Type.Null(),
    ]),
  ),
  include_subdomains: Type.Optional(Type.Boolean()),
});
export type ZoneHoldEdit = Static<typeof ZoneHoldEdit>;
