import { type Static, Type } from "typebox";

/** Accounts under the name that they had until 2020 (SPEC 9, 2020-04-02). The vendor's newer product of that name is another. */
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

/** Who did what to which object; what the object was stays with those who may read it. */
export const OrganizationAuditLog = Type.Object({
  id: Type.String(),
  when: Time,
  action: Type.Object({ type: Type.String(), result: Type.Boolean() }),
  actor: Type.Object({ type: Type.String(), id: Type.String(), ip: Type.String() }),
  owner: Type.Object({ id: Id }),
  resource: Type.Object({ type: Type.String(), id: Type.String() }),
});
export type OrganizationAuditLog = Static<typeof OrganizationAuditLog>;
