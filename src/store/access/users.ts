import type { Insertable, Kysely, Selectable, Updateable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { UsersTable } from "#store/tables/access.ts";

export type UserRow = Selectable<UsersTable>;

export const findUser = (db: Kysely<Tables>, id: string): Promise<UserRow | undefined> =>
  db.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();

/** `email` must be in lower case, as stored. */
export const findUserByEmail = (db: Kysely<Tables>, email: string): Promise<UserRow | undefined> =>
  db.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();

/** The user that the first start created. */
export const oldestUser = (db: Kysely<Tables>): Promise<UserRow | undefined> =>
  db.selectFrom("users").selectAll().orderBy("created_on").orderBy("id").limit(1).executeTakeFirst();

export const allUsers = (db: Kysely<Tables>): Promise<UserRow[]> => db.selectFrom("users").selectAll().orderBy("id").execute();

export async function insertUser(db: Kysely<Tables>, row: Insertable<UsersTable>): Promise<void> {
  await db.insertInto("users").values(row).execute();
}

export async function updateUser(db: Kysely<Tables>, id: string, change: Updateable<UsersTable>): Promise<void> {
  await db.updateTable("users").set(change).where("id", "=", id).execute();
}
