import { type Static, Type } from "typebox";

/** Whether the zone, and with it the names below, are kept from other accounts and custom hostnames (SPEC 9, "Zone hold"). */
export const ZoneHold = Type.Object({
  hold: Type.Boolean(),
  /** When a hold that is off for a while comes back; empty where it does not. */
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
