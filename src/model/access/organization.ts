import { type Static, Type } from "typebox";

/** Accounts under their name until 2020 (SPEC 9, 2020-04-02). The vendor's current product of that name is different. */
const Id = Type.String({ maxLength: 32 });
const Time = Type.String({ format: "date-time" });

export const Organization = Type.Object({
  id: Id,
  name: Type.String(),
  status: Type.Enum(["active"]),
  member_count: Type.Integer(),
  created_on: Time,
});
export type Organization = Static<typeof Organization>;

export const OrganizationEdit = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) });

export const OrganizationRole = Type.Object({ id: Id, name: Type.String(), permissions: Type.Array(Type.String()) });
export type OrganizationRole = Static<typeof OrganizationRole>;

export const OrganizationMember = Type.Object({
  id: Id,
  email: Type.String(),
  name: Type.String(),
  status: Type.String(),
  roles: Type.Array(Type.Object({ id: Id, name: Type.String() })),
});
export type OrganizationMember = Static<typeof OrganizationMember>;

export const OrganizationMemberEdit = Type.Object({ roles: Type.Array(Id, { minItems: 1, maxItems: 10 }) });

/** A member who has not accepted yet. */
export const OrganizationInvite = Type.Object({
  id: Id,
  invited_member_id: Id,
  invited_member_email: Type.String(),
  organization_id: Id,
  organization_name: Type.String(),
  roles: Type.Array(Type.Object({ id: Id, name: Type.String() })),
  invited_by: Type.String(),
  invited_on: Time,
  expires_on: Type.Union([Time, Type.Null()]),
  status: Type.Enum(["pending", "rejected", "expired"]),
  secret: Type.Optional(Type.String({ description: "As in the answer to POST /accounts/{account_id}/members." })),
});
export type OrganizationInvite = Static<typeof OrganizationInvite>;

export const OrganizationInviteCreate = Type.Object({
  invited_member_email: Type.String({ minLength: 3, maxLength: 254 }),
  roles: Type.Array(Id, { minItems: 1, maxItems: 10 }),
});
export type OrganizationInviteCreate = Static<typeof OrganizationInviteCreate>;
