import { type Static, Type } from "typebox";
import { Account } from "./account.ts";
import { ALL_PERMISSION_GROUPS, type PermissionGroupName } from "./permission-groups.ts";

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly groups: ReadonlySet<PermissionGroupName>;
}

const groupsWhere = (keep: (name: PermissionGroupName) => boolean): ReadonlySet<PermissionGroupName> =>
  new Set([...ALL_PERMISSION_GROUPS].filter(keep));

/** Roles of members. Clients rely on these identifiers. */
export const ROLES = [
  { id: "33666b9c79b9a5273fc7344ff42f953d", name: "Super Administrator - All Privileges", groups: ALL_PERMISSION_GROUPS },
  // Only a super administrator may create the account's tokens.
  { id: "05784afa30c1afe1440e79d9351c7430", name: "Administrator", groups: groupsWhere((name) => name !== "Account API Tokens Write") },
  { id: "4e7c48cd86c3ef2b6eb6de0a3e2a0b1b", name: "Administrator Read Only", groups: groupsWhere((name) => name.endsWith(" Read")) },
] as const satisfies readonly Role[];

export const OWNER_ROLE = ROLES[0].name;

/** The permissions of all named roles; unknown names grant nothing. */
export function roleGroups(names: readonly string[]): ReadonlySet<PermissionGroupName> {
  const held: readonly Role[] = ROLES.filter((role) => names.includes(role.name));
  const only = held.length === 1 ? held[0] : undefined;
  return only ? only.groups : new Set(held.flatMap((role) => [...role.groups]));
}

export const MEMBERSHIP_STATUSES = ["accepted", "pending", "rejected"] as const;
const MembershipStatus = Type.Enum([...MEMBERSHIP_STATUSES]);

/** The caller's membership of one account (shape after the OpenAPI document). */
export const Membership = Type.Object({
  id: Type.String({ maxLength: 32 }),
  status: MembershipStatus,
  account: Account,
  api_access_enabled: Type.Union([Type.Boolean(), Type.Null()]),
  roles: Type.Array(Type.String()),
});
export type Membership = Static<typeof Membership>;

/** The same membership as older clients know it, by its account (shape after the OpenAPI document). */
export const UserOrganization = Type.Object({
  id: Type.String({ maxLength: 32 }),
  name: Type.String(),
  roles: Type.Array(Type.String()),
  status: Type.Enum(["member", "invited"]),
});
export type UserOrganization = Static<typeof UserOrganization>;

export const UserOrganizationList = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 100 })),
  status: Type.Optional(Type.Enum(["member", "invited"])),
  order: Type.Optional(Type.Enum(["id", "name", "status"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type UserOrganizationList = Static<typeof UserOrganizationList>;

export const MembershipUpdate = Type.Object({ status: Type.Enum(["accepted", "rejected"]) });
export type MembershipUpdate = Static<typeof MembershipUpdate>;

export const MembershipList = Type.Object({
  "account.name": Type.Optional(Type.String({ maxLength: 100 })),
  name: Type.Optional(Type.String({ maxLength: 100 })),
  status: Type.Optional(MembershipStatus),
  order: Type.Optional(Type.Enum(["id", "account.name", "status"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type MembershipList = Static<typeof MembershipList>;
