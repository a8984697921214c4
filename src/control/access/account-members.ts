import type { Page, PageRequest } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  type AccountMember,
  type AccountMemberQuery,
  type AccountRole,
  type MemberOrder,
  ROLE_AREAS,
} from "#model/access/account-member.ts";
import { type Role, ROLES } from "#model/access/membership.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";
import { type MembershipRow, membershipsOfAccount } from "#store/access/memberships.ts";
import { findInvitation } from "#store/access/invitations.ts";
import { hasTotp } from "#store/access/totp.ts";
import type { Tables } from "#store/queries/tables.ts";
import { findUser } from "#store/access/users.ts";
import type { Kysely } from "kysely";
import { createMemberWrites, type MemberWrites, type MemberWritesDeps } from "./member-writes.ts";

/** Members of an account and their roles. Throws `not_found` for an unknown member or role. */
export interface AccountMembers extends MemberWrites {
  list(accountId: string, query: AccountMemberQuery, page: PageRequest): Promise<Page<AccountMember>>;
  get(accountId: string, id: string): Promise<AccountMember>;
  roles(page: PageRequest): Page<AccountRole>;
  role(id: string): AccountRole;
}

export function createAccountMembers(deps: Omit<MemberWritesDeps, "view">): AccountMembers {
  const { store } = deps;
  const view = (row: MembershipRow): Promise<AccountMember> => memberView(store.read, row);
  const all = async (accountId: string): Promise<readonly AccountMember[]> =>
    Promise.all((await membershipsOfAccount(store.read, accountId)).map(view));

  return {
    ...createMemberWrites({ ...deps, view: memberView }),
    list: async (accountId, { status, order, direction }, page) => {
      const found = (await all(accountId)).filter((member) => status === undefined || member.status === status);
      const key = ORDER_KEYS[order ?? "user.email"];
      const sorted = found.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
      return pageOf(direction === "desc" ? sorted.toReversed() : sorted, page);
    },
    get: async (accountId, id) => {
      const member = (await all(accountId)).find((candidate) => candidate.id === id);
      if (member === undefined) throw new PlatformError("not_found", { message: "The account has no member with this identifier." });
      return member;
    },
    roles: (page) => pageOf(ROLES.map(roleView), page),
    role: (id) => {
      const role = ROLES.find((candidate) => candidate.id === id);
      if (role === undefined) throw new PlatformError("not_found", { message: "No role has this identifier." });
      return roleView(role);
    },
  };
}

export async function memberView(db: Kysely<Tables>, row: MembershipRow): Promise<AccountMember> {
  const user = await findUser(db, row.user_id);
  const names = JSON.parse(row.roles) as string[];
  const { email = "", first_name = null, last_name = null } = user ?? {};
  const invitation = row.status === "pending" ? await findInvitation(db, row.id) : undefined;
  // An invitation tells the inviter nothing about the user.
  const isMember = row.status === "accepted";
  const known = {
    ...(isMember ? { first_name, last_name } : { first_name: null, last_name: null }),
    two_factor_authentication_enabled: isMember && (await hasTotp(db, row.user_id)),
  };
  return {
    id: row.id,
    email,
    status: row.status as AccountMember["status"],
    user: { id: row.user_id, email, ...known },
    roles: ROLES.filter(({ name }) => names.includes(name)).map(roleView),
    ...(invitation === undefined ? {} : { invitation: { expires_on: invitation.expires_on } }),
  };
}

const ORDER_KEYS: Readonly<Record<MemberOrder, (member: AccountMember) => string>> = {
  "user.first_name": ({ user }) => user.first_name ?? "",
  "user.last_name": ({ user }) => user.last_name ?? "",
  "user.email": ({ email }) => email,
  status: ({ status }) => status,
};

const pageOf = <T>(items: readonly T[], page: PageRequest): Page<T> => ({
  items: items.slice((page.page - 1) * page.per_page, page.page * page.per_page),
  ...page,
  total_count: items.length,
});

function roleView({ id, name, groups }: Role): AccountRole {
  const holds = (wanted: readonly PermissionGroupName[]): boolean => wanted.some((group) => groups.has(group));
  const permissions = Object.fromEntries(
    Object.entries(ROLE_AREAS).map(([area, [read, write]]) => [area, { read: holds(read) || holds(write), write: holds(write) }]),
  );
  return { id, name, description: `${groups.size} permission groups of the account and its zones`, permissions };
}
