import type { AccountMembers } from "#control/access/account-members.ts";
import type { Accounts } from "#control/access/accounts.ts";
import type { Call } from "#control/call.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ROLES } from "#model/access/membership.ts";
import type { OrganizationInvite, OrganizationInviteCreate } from "#model/access/organization.ts";
import { invitationsOfAccount } from "#store/access/invitations.ts";
import { membershipsOfAccount } from "#store/access/memberships.ts";
import { findUser } from "#store/access/users.ts";
import type { Store } from "#store/database/store.ts";
import { openStatus } from "./open-status.ts";
import type { Invitations } from "./invitations.ts";

/** Members who have not accepted, in the form of the organizations API. Throws `not_found` for an unknown one. */
export interface OrganizationInvites {
  list(accountId: string): Promise<readonly OrganizationInvite[]>;
  get(accountId: string, id: string): Promise<OrganizationInvite>;
  create(call: Call, accountId: string, body: OrganizationInviteCreate): Promise<OrganizationInvite>;
  edit(call: Call, accountId: string, id: string, roles: readonly string[]): Promise<OrganizationInvite>;
  remove(call: Call, accountId: string, id: string): Promise<{ id: string }>;
}

export interface OrganizationInvitesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly accounts: Pick<Accounts, "get">;
  readonly members: Pick<AccountMembers, "update" | "remove">;
  readonly invitations: Pick<Invitations, "invite">;
}

export function createOrganizationInvites(deps: OrganizationInvitesDeps): OrganizationInvites {
  const { store, clock, accounts, members, invitations } = deps;
  const list = async (accountId: string): Promise<readonly OrganizationInvite[]> => {
    const { name } = await accounts.get(accountId);
    const found = new Map((await invitationsOfAccount(store.read, accountId)).map((row) => [row.membership_id, row]));
    const open = (await membershipsOfAccount(store.read, accountId)).filter(({ status }) => status !== "accepted");
    return Promise.all(
      open.map(async (row) => {
        const invitation = found.get(row.id);
        const names = JSON.parse(row.roles) as string[];
        return {
          id: row.id,
          invited_member_id: row.user_id,
          invited_member_email: (await findUser(store.read, row.user_id))?.email ?? "",
          organization_id: accountId,
          organization_name: name,
          roles: ROLES.filter((role) => names.includes(role.name)).map((role) => ({ id: role.id, name: role.name })),
          invited_by: invitation?.invited_by ?? "",
          invited_on: row.created_on,
          expires_on: invitation?.expires_on ?? null,
          status: openStatus(row, invitation, clock.nowMs()),
        };
      }),
    );
  };
  const get = async (accountId: string, id: string): Promise<OrganizationInvite> => {
    const invite = (await list(accountId)).find((one) => one.id === id);
    if (invite === undefined) throw new PlatformError("not_found", { message: "The organization has no invitation with this identifier." });
    return invite;
  };
  return {
    list,
    get,
    create: async (call, accountId, { invited_member_email, roles }) => {
      const { id, invitation } = await invitations.invite(call, accountId, { email: invited_member_email, roles });
      const made = await get(accountId, id);
      return invitation?.secret === undefined ? made : { ...made, secret: invitation.secret };
    },
    edit: async (call, accountId, id, roles) => {
      await get(accountId, id);
      await members.update(call, accountId, id, { roles: roles.map((role) => ({ id: role })) });
      return get(accountId, id);
    },
    remove: async (call, accountId, id) => {
      await get(accountId, id);
      return members.remove(call, accountId, id);
    },
  };
}
