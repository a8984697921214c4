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
import type { Store } from "#store/database/store.ts";
import { hasTotp } from "#store/access/totp.ts";
import { findUser } from "#store/access/users.ts";

/** Members of an account and their roles. Throws `not_found` for an unknown member or role. */
export interface AccountMembers {
  list(accountId: string, query: AccountMemberQuery, page: PageRequest): Promise<Page<AccountMember>>;
  get(accountId: string, id: string): Promise<AccountMember>;
  roles(page: PageRequest): Page<AccountRole>;
  role(id: string): AccountRole;
}

export function createAccountMembers({ store }: { readonly store: Store }): AccountMembers {
  const view = async (row: MembershipRow): Promise<AccountMember> => {
    const user = await findUser(store.read, row.user_id);
    const names = JSON.parse(row.roles) as string[];
    const { email = "", first_name = null, last_name = null } = user ?? {};
    return {
      id: row.id,
      email,
      status: row.status as AccountMember["status"],
      user: { id: row.user_id, email, first_name, last_name, two_factor_authentication_enabled: await hasTotp(store.read, row.user_id) },
      roles: ROLES.filter(({ name }) => names.includes(name)).map(roleView),
    };
  };
  const all = async (accountId: string): Promise<readonly AccountMember[]> =>
    Promise.all((await membershipsOfAccount(store.read, accountId)).map(view));

  return {
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
