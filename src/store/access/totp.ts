import type { Insertable, Kysely, Selectable, Updateable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { UserTotpTable } from "#store/tables/access.ts";

export type TotpRow = Selectable<UserTotpTable>;

export const findTotp = (db: Kysely<Tables>, userId: string): Promise<TotpRow | undefined> =>
  db.selectFrom("user_totp").selectAll().where("user_id", "=", userId).executeTakeFirst();

/** Replaces one that is there. */
export async function putTotp(db: Kysely<Tables>, row: Insertable<UserTotpTable>): Promise<void> {
  await deleteTotp(db, row.user_id);
  await db.insertInto("user_totp").values(row).execute();
}

export async function updateTotp(db: Kysely<Tables>, userId: string, change: Updateable<UserTotpTable>): Promise<void> {
  // few: one row a user
  await db.updateTable("user_totp").set(change).where("user_id", "=", userId).execute();
}

export async function deleteTotp(db: Kysely<Tables>, userId: string): Promise<void> {
  // few: one row a user
  await db.deleteFrom("user_totp").where("user_id", "=", userId).execute();
}

/** Whether sign-in with the user's password requires a code. */
export async function hasTotp(db: Kysely<Tables>, userId: string): Promise<boolean> {
  const row = await findTotp(db, userId);
  return row !== undefined && row.confirmed_on !== null;
}
