import type { Insertable, Kysely, Selectable } from "kysely";
import type { SessionsTable } from "#store/tables/access.ts";
import type { Tables } from "#store/queries/tables.ts";

export type SessionRow = Selectable<SessionsTable>;

/** The owner of sessions: a user, including sessions through the user's tokens, or one token of an account. */
export type SessionOwner = { readonly user_id: string } | { readonly token_id: string };

export const findSessionByHash = (db: Kysely<Tables>, hash: string): Promise<SessionRow | undefined> =>
  db.selectFrom("sessions").selectAll().where("hash", "=", hash).executeTakeFirst();

/** Newest first. */
export const listSessions = (db: Kysely<Tables>, owner: SessionOwner): Promise<SessionRow[]> =>
  ("user_id" in owner
    ? db.selectFrom("sessions").where("user_id", "=", owner.user_id)
    : db.selectFrom("sessions").where("token_id", "=", owner.token_id)
  )
    .selectAll()
    .orderBy("created_on", "desc")
    .orderBy("id")
    .execute();

export async function insertSession(db: Kysely<Tables>, row: Insertable<SessionsTable>): Promise<void> {
  await db.insertInto("sessions").values(row).execute();
}

export async function touchSession(db: Kysely<Tables>, id: string, lastSeenOn: string): Promise<void> {
  await db.updateTable("sessions").set({ last_seen_on: lastSeenOn }).where("id", "=", id).execute();
}

export async function deleteSessions(db: Kysely<Tables>, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom("sessions").where("id", "in", ids).execute();
}
