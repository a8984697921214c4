import { type Static, Type } from "typebox";
import type { PermissionGroupName } from "./permission-groups.ts";
import { PendingInvitation } from "./invitation.ts";
import { MEMBERSHIP_STATUSES } from "./membership.ts";

const Id = Type.String({ maxLength: 32 });
const Grant = Type.Object({ read: Type.Boolean(), write: Type.Boolean() });

/** Areas of a role's displayed permissions, with the permission groups that mean reading and writing in each. */
export const ROLE_AREAS = {
  analytics: [["Analytics Read", "Account Analytics Read"], []],
  cache_purge: [[], ["Cache Purge"]],
  dns_records: [["DNS Read"], ["DNS Write"]],
  logs: [["Logs Read"], ["Logs Write"]],
  organization: [["Account Settings Read"], ["Account Settings Write"]],
  ssl: [["SSL and Certificates Read"], ["SSL and Certificates Write"]],
  waf: [["Zone WAF Read"], ["Zone WAF Write"]],
  zone_settings: [["Zone Settings Read"], ["Zone Settings Write"]],
  zones: [["Zone Read"], ["Zone Write"]],
} as const satisfies Record<string, readonly [read: readonly PermissionGroupName[], write: readonly PermissionGroupName[]]>;

export const AccountRole = Type.Object({
  id: Id,
  name: Type.String(),
  description: Type.String(),
  permissions: Type.Record(Type.String(), Grant),
});
export type AccountRole = Static<typeof AccountRole>;

/** A user who has roles in an account, or an invitation to it. */
export const AccountMember = Type.Object({
  id: Id,
  email: Type.String(),
  status: Type.Enum([...MEMBERSHIP_STATUSES]),
  user: Type.Object({
    id: Id,
    email: Type.String(),
    first_name: Type.Union([Type.String(), Type.Null()]),
    last_name: Type.Union([Type.String(), Type.Null()]),
    two_factor_authentication_enabled: Type.Boolean(),
  }),
  roles: Type.Array(AccountRole),
  invitation: Type.Optional(PendingInvitation),
});
export type AccountMember = Static<typeof AccountMember>;

export const AccountMemberCreate = Type.Object({
  email: Type.String({ minLength: 3, maxLength: 254, description: "Anybody else than a user gets an e-mail with a link." }),
  roles: Type.Array(Id, { minItems: 1, maxItems: 10 }),
  status: Type.Optional(Type.Enum(["pending"], { description: "The user accepts the invitation." })),
});
export type AccountMemberCreate = Static<typeof AccountMemberCreate>;

export const AccountMemberUpdate = Type.Object({ roles: Type.Array(Type.Object({ id: Id }), { minItems: 1, maxItems: 10 }) });
export type AccountMemberUpdate = Static<typeof AccountMemberUpdate>;

const ORDERS = ["user.first_name", "user.last_name", "user.email", "status"] as const;
export type MemberOrder = (typeof ORDERS)[number];

export const AccountMemberQuery = Type.Object({
  status: Type.Optional(Type.Enum([...MEMBERSHIP_STATUSES])),
  order: Type.Optional(Type.Enum([...ORDERS])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type AccountMemberQuery = Static<typeof AccountMemberQuery>;
