import { accountView } from "#control/access/accounts.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { ownUser } from "#control/sign-in/own-user.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { UserOrganization, UserOrganizationList } from "#model/access/membership.ts";
import { listMemberships, type MembershipOfAccount } from "#store/access/memberships.ts";
import type { Store } from "#store/database/store.ts";

/** The caller's accounts as older clients know them. Memberships that the caller has rejected are not among them. */
export interface UserOrganizations {
  list(call: Call, query: UserOrganizationList, page: PageRequest): Promise<Page<UserOrganization>>;
  get(call: Call, id: string): Promise<UserOrganization>;
}

export function createUserOrganizations(store: Store): UserOrganizations {
  const all = async (call: Call): Promise<readonly UserOrganization[]> =>
    (await listMemberships(store.read, ownUser(call))).filter(({ membership }) => membership.status !== "rejected").map(viewOf);
  return {
    list: async (call, { name, status, order, direction }, page) => {
      const found = (await all(call)).filter(
        (one) => (name === undefined || one.name === name) && (status === undefined || one.status === status),
      );
      const sorted = order === undefined ? found : found.toSorted((a, b) => (a[order] < b[order] ? -1 : 1));
      const ordered = direction === "desc" ? sorted.toReversed() : sorted;
      return { items: ordered.slice((page.page - 1) * page.per_page, page.page * page.per_page), ...page, total_count: found.length };
    },
    get: async (call, id) => {
      const one = (await all(call)).find((organization) => organization.id === id);
      if (one === undefined) throw new PlatformError("not_found", { message: "You are not a member of an account with this identifier." });
      return one;
    },
  };
}

const viewOf = ({ membership, account }: MembershipOfAccount): UserOrganization => ({
  id: account.id,
  name: accountView(account).name,
  roles: JSON.parse(membership.roles) as string[],
  status: membership.status === "accepted" ? "member" : "invited",
});
