import { type Static, Type } from "typebox";

const Id = Type.String({ maxLength: 32 });
const Time = Type.String({ format: "date-time" });

/** A membership of the caller as an invitation (shape after the vendor's client). */
export const UserInvite = Type.Object({
  id: Id,
  invited_member_id: Id,
  invited_member_email: Type.String(),
  organization_id: Id,
  organization_name: Type.String(),
  organization_is_enforcing_twofactor: Type.Boolean(),
  roles: Type.Array(Type.String()),
  invited_by: Type.String(),
  invited_on: Time,
  expires_on: Type.Optional(Time),
  status: Type.Enum(["pending", "accepted", "rejected", "expired"]),
});
export type UserInvite = Static<typeof UserInvite>;
