import { accountView } from "#control/access/accounts.ts";
import type { Memberships } from "#control/access/memberships.ts";
import type { Call } from "#control/call.ts";
import { ownUser } from "#control/sign-in/own-user.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { MembershipUpdate } from "#model/access/membership.ts";
import type { UserInvite } from "#model/access/user-invite.ts";
import { findInvitation } from "#store/access/invitations.ts";
import { findMembership, listMemberships, type MembershipOfAccount } from "#store/access/memberships.ts";
import { findUser } from "#store/access/users.ts";
import type { Store } from "#store/database/store.ts";
import { openStatus } from "./open-status.ts";

/** The caller's own memberships that somebody invited the caller to. */
export interface UserInvites {
  /** Those that the caller has not accepted. */
  list(call: Call): Promise<readonly UserInvite[]>;
  get(call: Call, id: string): Promise<UserInvite>;
  /** Accepts or declines. */
  edit(call: Call, id: string, body: MembershipUpdate): Promise<UserInvite>;
}

export interface UserInvitesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly memberships: Pick<Memberships, "update">;
}

export function createUserInvites({ store, clock, memberships }: UserInvitesDeps): UserInvites {
  const viewOf = async ({ membership, account }: MembershipOfAccount): Promise<UserInvite> => {
    const invitation = await findInvitation(store.read, membership.id);
    return {
      id: membership.id,
      invited_member_id: membership.user_id,
      invited_member_email: (await findUser(store.read, membership.user_id))?.email ?? "",
      organization_id: account.id,
      organization_name: account.name,
      roles: JSON.parse(membership.roles) as string[],
      invited_by: invitation?.invited_by ?? "",
      invited_on: membership.created_on,
      ...(invitation === undefined ? {} : { expires_on: invitation.expires_on }),
      status: membership.status === "accepted" ? "accepted" : openStatus(membership, invitation, clock.nowMs()),
      organization_is_enforcing_twofactor: accountView(account).settings.enforce_twofactor,
    };
  };
  const found = async (call: Call, id: string): Promise<MembershipOfAccount> => {
    const row = await findMembership(store.read, ownUser(call), id);
    if (row === undefined) throw new PlatformError("not_found", { message: "You have no invitation with this identifier." });
    return row;
  };
  return {
    list: async (call) => {
      const rows = await listMemberships(store.read, ownUser(call));
      return Promise.all(rows.filter(({ membership }) => membership.status !== "accepted").map(viewOf));
    },
    get: async (call, id) => viewOf(await found(call, id)),
    edit: async (call, id, body) => {
      const before = await viewOf(await found(call, id));
      // A member leaves an account with DELETE /memberships, which names what it does.
      if (before.status === "accepted")
        throw new PlatformError("invalid_input", { message: "You have accepted this invitation already.", source: "/status" });
      await memberships.update(call, id, body);
      return { ...before, status: body.status };
    },
  };
}
