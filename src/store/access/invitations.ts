import { type Insertable, type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { InvitationsTable } from "#store/tables/access.ts";
import type { Tables } from "#store/queries/tables.ts";

export type InvitationRow = Selectable<InvitationsTable>;

/** An invitation with its membership and user. */
export interface InvitationOfUser extends InvitationRow {
  readonly account_id: string;
  readonly user_id: string;
  readonly status: string;
  readonly roles: string;
  readonly email: string;
}

export const findInvitation = (db: Kysely<Tables>, membershipId: string): Promise<InvitationRow | undefined> =>
  db.selectFrom("invitations").selectAll().where("membership_id", "=", membershipId).executeTakeFirst();

export const invitationByToken = (db: Kysely<Tables>, hash: string): Promise<InvitationOfUser | undefined> =>
  db
    .selectFrom("invitations")
    .innerJoin("memberships", "memberships.id", "invitations.membership_id")
    .innerJoin("users", "users.id", "memberships.user_id")
    .selectAll("invitations")
    .select(["memberships.account_id", "memberships.user_id", "memberships.status", "memberships.roles", "users.email"])
    .where("invitations.token_hash", "=", hash)
    .executeTakeFirst();

export const invitationsOfAccount = (db: Kysely<Tables>, accountId: string): Promise<InvitationRow[]> =>
  db
    .selectFrom("invitations")
    .innerJoin("memberships", "memberships.id", "invitations.membership_id")
    .selectAll("invitations")
    .where("memberships.account_id", "=", accountId)
    .execute();

export async function insertInvitation(db: Kysely<Tables>, row: Insertable<InvitationsTable>): Promise<void> {
  await db.insertInto("invitations").values(row).execute();
}

export async function deleteInvitation(db: Kysely<Tables>, membershipId: string): Promise<void> {
  // few: a membership has one
  await db.deleteFrom("invitations").where("membership_id", "=", membershipId).execute();
}

/** Deletes memberships whose invitation ended before `now`, and users whom nobody invites any more. */
export async function deleteEndedInvitations(db: Kysely<Tables>, now: string): Promise<void> {
  const ended = sql`SELECT membership_id FROM invitations WHERE expires_on <= ${now}`;
  await deleteInChunks(db, { table: "memberships", key: ["id"], where: sql`status = 'pending' AND id IN (${ended})` });
  await deleteInChunks(db, {
    table: "users",
    key: ["id"],
    where: sql`password_hash IS NULL AND api_key_hash IS NULL
      AND id <> (SELECT id FROM users ORDER BY created_on, id LIMIT 1)
      AND NOT EXISTS (SELECT 1 FROM memberships WHERE memberships.user_id = users.id)
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE tokens.user_id = users.id)
      AND NOT EXISTS (SELECT 1 FROM user_passkeys WHERE user_passkeys.user_id = users.id)`,
  });
}
