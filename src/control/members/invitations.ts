import type { Kysely } from "kysely";
import { memberView } from "#control/access/account-members.ts";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { identitiesOfUser } from "#store/access/identities.ts";
import { canSignIn } from "#control/sign-in/sign-in-ways.ts";
import { assertMayGive, auditMember, namesOf } from "#control/access/member-writes.ts";
import { emitUserTokens } from "#control/access/tokens.ts";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId, newTokenSecret } from "#kernel/crypto/ids.ts";
import { hashPassword } from "#kernel/crypto/password.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { AccountMember, AccountMemberCreate } from "#model/access/account-member.ts";
import type { Invitation, InvitationAccept } from "#model/access/invitation.ts";
import { isEmail } from "#model/access/user.ts";
import { findAccount } from "#store/access/accounts.ts";
import {
  deleteEndedInvitations,
  deleteInvitation,
  findInvitation,
  insertInvitation,
  type InvitationOfUser,
  invitationByToken,
} from "#store/access/invitations.ts";
import {
  acceptedMemberships,
  deleteMembership,
  insertMembership,
  type MembershipRow,
  membershipsOfAccount,
  setMembershipStatus,
} from "#store/access/memberships.ts";
import { listUserTokens } from "#store/access/tokens.ts";
import { findUser, findUserByEmail, insertUser, oldestUser, updateUser, type UserRow } from "#store/access/users.ts";
import type { Store, Unit } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { InvitationMail } from "./invitation-mail.ts";

/**
 * Invitations to accounts. A user of the installation accepts as a membership. Anybody else gets a secret by e-mail, which
 * proves the address, and chooses a password with it (ADR 0255).
 */
export interface Invitations {
  /** The caller needs every permission of the roles. */
  invite(call: Call, accountId: string, body: AccountMemberCreate): Promise<AccountMember>;
  /** The invitation whose secret the call has. */
  current(call: Call): Promise<Invitation>;
  accept(call: Call, body: InvitationAccept): Promise<Invitation>;
  decline(call: Call): Promise<{ id: string }>;
  /** Deletes ended invitations, and users whom nobody invites any more. */
  forget(): Promise<void>;
}

export interface InvitationsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly mail: InvitationMail;
  /** Drops from caches the credentials whose permissions changed. */
  invalidate(): void;
}

const VALID_MS = 7 * 86_400_000;
const MEMBERS_MAX = 1000;

export function createInvitations({ store, clock, mail, invalidate }: InvitationsDeps): Invitations {
  async function add(unit: Unit, call: Call, accountId: string, email: string, names: readonly string[], mayReadSecret: boolean) {
    const known = await findUserByEmail(unit.db, email);
    const isStranger = known === undefined || (await isUnused(unit.db, known));
    if (isStranger && !mail.isConfigured && !mayReadSecret) throw new PlatformError("not_found", { message: NO_MAIL, source: "/email" });
    const nowMicros = clock.nowMicros();
    const now = isoMicros(nowMicros);
    const user = known ?? (await insertStranger(unit.db, email, now));
    await assertNotInvited(unit.db, accountId, user.id, clock.nowMs());
    const secret = isStranger ? newTokenSecret() : null;
    const expires_on = isoMicros(nowMicros + VALID_MS * 1000);
    const row: MembershipRow = {
      ...{ id: newId(), account_id: accountId, user_id: user.id },
      ...{ roles: JSON.stringify(names), status: "pending", created_on: now },
    };
    await insertMembership(unit.db, row);
    await insertInvitation(unit.db, {
      ...{ membership_id: row.id, token_hash: secret === null ? null : hashSecret(secret) },
      ...{ invited_by: call.actor.name, created_on: now, expires_on },
    });
    const shown = await memberView(unit.db, row);
    auditMember(unit, call, "member.invite", row, null, shown);
    return { shown, secret, expires_on, account: (await findAccount(unit.db, accountId))?.name ?? accountId };
  }

  /** Throws for an invitation that was used, withdrawn or replaced since the call began. */
  async function own(db: Kysely<Tables>, call: Call): Promise<InvitationOfUser> {
    const row = await invitationByToken(db, call.actor.proof ?? "");
    if (row === undefined || row.status !== "pending" || row.membership_id !== call.actor.invitation_id)
      throw new PlatformError("invalid_token", { message: "The invitation does not exist, or has ended." });
    return row;
  }
  const view = async (db: Kysely<Tables>, row: InvitationOfUser): Promise<Invitation> => ({
    account: { id: row.account_id, name: (await findAccount(db, row.account_id))?.name ?? "" },
    email: row.email,
    roles: JSON.parse(row.roles) as string[],
    invited_by: row.invited_by,
    expires_on: row.expires_on,
  });
  /** Ends the invitation with the membership's new status. */
  async function decide(unit: Unit, call: Call, row: InvitationOfUser, status: "accepted" | "rejected"): Promise<void> {
    const before: MembershipRow = { ...row, id: row.membership_id };
    const was = await memberView(unit.db, before);
    await setMembershipStatus(unit.db, row.membership_id, status);
    await deleteInvitation(unit.db, row.membership_id);
    await emitUserTokens(unit, row.user_id);
    auditMember(unit, call, "member.decide", before, was, await memberView(unit.db, { ...before, status }));
  }

  return {
    invite: async (call, accountId, body) => {
      const names = namesOf(body.roles, "/roles");
      assertMayGive(call, accountId, names);
      const email = body.email.toLowerCase();
      if (!isEmail(email)) throw new PlatformError("invalid_input", { message: "Enter a valid e-mail address.", source: "/email" });
      const mayReadSecret = !mail.isConfigured && call.actor.user_id !== null && call.actor.user_id === (await oldestUser(store.read))?.id;
      if (mail.isConfigured) mail.take(accountId);
      const { shown, secret, ...facts } = await commit({ store }, call, (unit) => add(unit, call, accountId, email, names, mayReadSecret));
      if (mail.isConfigured && call.dry_run !== true) {
        const fault = await mail.send({ ...facts, to: email, invitedBy: call.actor.name, secret, id: shown.id });
        if (fault !== null) call.notes = [...(call.notes ?? []), `The e-mail was not sent: ${fault}. Remove the member and invite again.`];
      }
      if (secret === null || !mayReadSecret) return shown;
      return { ...shown, invitation: { expires_on: facts.expires_on, secret } };
    },
    current: async (call) => view(store.read, await own(store.read, call)),
    accept: async (call, { password, first_name = null, last_name = null }) => {
      const password_hash = await hashPassword(password);
      const accepted = await commit({ store }, call, async (unit) => {
        const row = await own(unit.db, call);
        const user = await findUser(unit.db, row.user_id);
        // Another account's invitation may have been accepted before: its password stays.
        if (user === undefined || !(await isUnused(unit.db, user)))
          throw new PlatformError("already_set_up", {
            message: "This e-mail address can sign in already. Sign in to accept the invitation.",
          });
        const modified_on = isoMicros(clock.nowMicros());
        await updateUser(unit.db, user.id, { password_hash, first_name, last_name, modified_on });
        await decide(unit, call, row, "accepted");
        return view(unit.db, row);
      });
      invalidate();
      return accepted;
    },
    decline: async (call) => {
      const row = await commit({ store }, call, async (unit) => {
        const found = await own(unit.db, call);
        await decide(unit, call, found, "rejected");
        return found;
      });
      return { id: row.membership_id };
    },
    forget: async () => {
      await store.write(({ db }) => deleteEndedInvitations(db, isoMicros(clock.nowMicros())));
    },
  };
}

const NO_MAIL =
  "No user has this e-mail address. Without a mail server (notifications.smtp_host), only the installation's first user may invite others.";

/** Whether the user was invited and cannot sign in yet in any way. The first user can, by the first token. */
async function isUnused(db: Kysely<Tables>, user: UserRow): Promise<boolean> {
  if (user.api_key_hash !== null || (await canSignIn(db, user)) || (await identitiesOfUser(db, user.id)).length > 0) return false;
  if ((await oldestUser(db))?.id === user.id) return false;
  return (await listUserTokens(db, user.id)).length === 0 && (await acceptedMemberships(db, user.id)).length === 0;
}

async function insertStranger(db: Kysely<Tables>, email: string, now: string): Promise<{ readonly id: string }> {
  const id = newId();
  const details = { first_name: null, last_name: null, telephone: null, country: null, zipcode: null, api_key_hash: null };
  await insertUser(db, { id, email, ...details, created_on: now, modified_on: now });
  return { id };
}

/** Removes a declined or ended invitation, which another one replaces. */
async function assertNotInvited(db: Kysely<Tables>, accountId: string, userId: string, nowMs: number): Promise<void> {
  const members = await membershipsOfAccount(db, accountId);
  if (members.length >= MEMBERS_MAX)
    throw new PlatformError("invalid_input", { message: `The account already has ${MEMBERS_MAX} members, which is the limit.` });
  const member = members.find(({ user_id }) => user_id === userId);
  if (member === undefined) return;
  const invitation = member.status === "pending" ? await findInvitation(db, member.id) : undefined;
  const hasEnded = invitation !== undefined && Date.parse(invitation.expires_on) <= nowMs;
  if (member.status !== "rejected" && !hasEnded)
    throw new PlatformError("invalid_input", { message: "The user is a member or has an invitation already.", source: "/email" });
  await deleteMembership(db, member.id);
}
