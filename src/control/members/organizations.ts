import type { Call, Page, PageRequest } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ROLES } from "#model/access/membership.ts";
import type { Organization, OrganizationMember, OrganizationRole } from "#model/access/organization.ts";
import { type MembershipRow, membershipsOfAccount } from "#store/access/memberships.ts";
import type { Store } from "#store/database/store.ts";
import { findUser } from "#store/access/users.ts";
import type { Accounts } from "#control/access/accounts.ts";

/** Accounts as organizations, their name until 2020. Throws `not_found` for unknown objects of the account. */
export interface Organizations {
  get(accountId: string): Promise<Organization>;
  rename(call: Call, accountId: string, name: string): Promise<Organization>;
  members(accountId: string, page: PageRequest): Promise<Page<OrganizationMember>>;
  member(accountId: string, id: string): Promise<OrganizationMember>;
  roles(): readonly OrganizationRole[];
  role(id: string): OrganizationRole;
}

export function createOrganizations({ store, accounts }: { readonly store: Store; readonly accounts: Accounts }): Organizations {
  const memberships = (accountId: string): Promise<MembershipRow[]> => membershipsOfAccount(store.read, accountId);
  const shown = async ({ id, name, created_on }: { id: string; name: string; created_on: string }): Promise<Organization> => ({
    id,
    name,
    status: "active",
    member_count: (await memberships(id)).length,
    created_on,
  });
  const memberView = async (row: MembershipRow): Promise<OrganizationMember> => {
    const user = await findUser(store.read, row.user_id);
    const names = JSON.parse(row.roles) as string[];
    return {
      id: row.id,
      email: user?.email ?? "",
      name: [user?.first_name, user?.last_name].filter((part) => part).join(" "),
      status: row.status,
      roles: ROLES.filter(({ name }) => names.includes(name)).map(({ id, name }) => ({ id, name })),
    };
  };

  return {
    get: async (accountId) => shown(await accounts.get(accountId)),
    rename: async (call, accountId, name) => shown(await accounts.update(call, accountId, { name })),
    members: async (accountId, page) => {
      const all = await memberships(accountId);
      const items = all.slice((page.page - 1) * page.per_page, page.page * page.per_page);
      return { items: await Promise.all(items.map(memberView)), ...page, total_count: all.length };
    },
    member: async (accountId, id) => {
      const row = (await memberships(accountId)).find((candidate) => candidate.id === id);
      if (row === undefined) throw new PlatformError("not_found", { message: "The organization has no member with this identifier." });
      return memberView(row);
    },
    roles: () => ROLES.map(roleView),
    role: (id) => {
      const role = ROLES.find((candidate) => candidate.id === id);
      if (role === undefined) throw new PlatformError("not_found", { message: "No role has this identifier." });
      return roleView(role);
    },
  };
}

const roleView = ({ id, name, groups }: (typeof ROLES)[number]): OrganizationRole => ({ id, name, permissions: [...groups].toSorted() });
