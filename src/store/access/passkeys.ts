import type { Insertable, Kysely, Selectable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { UserPasskeysTable } from "#store/tables/access.ts";

export type PasskeyRow = Selectable<UserPasskeysTable>;

/** Oldest first. */
export const listPasskeys = (db: Kysely<Tables>, userId: string): Promise<PasskeyRow[]> =>
  db.selectFrom("user_passkeys").selectAll().where("user_id", "=", userId).orderBy("created_on").orderBy("id").execute();

export const findPasskey = (db: Kysely<Tables>, id: string): Promise<PasskeyRow | undefined> =>
  db.selectFrom("user_passkeys").selectAll().where("id", "=", id).executeTakeFirst();

export const passkeyByCredential = (db: Kysely<Tables>, credentialId: string): Promise<PasskeyRow | undefined> =>
  db.selectFrom("user_passkeys").selectAll().where("credential_id", "=", credentialId).executeTakeFirst();

export async function insertPasskey(db: Kysely<Tables>, row: Insertable<UserPasskeysTable>): Promise<void> {
  await db.insertInto("user_passkeys").values(row).execute();
}

export async function renamePasskey(db: Kysely<Tables>, id: string, name: string): Promise<void> {
  await db.updateTable("user_passkeys").set({ name }).where("id", "=", id).execute();
}

/** Whether the row was there and no other sign-in has used this count meanwhile. */
export async function countPasskeyUse(
  db: Kysely<Tables>,
  { id, counter }: Pick<PasskeyRow, "id" | "counter">,
  next: Pick<PasskeyRow, "counter" | "last_used_on">,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("user_passkeys")
    .set(next)
    .where("id", "=", id)
    .where("counter", "=", counter)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function deletePasskey(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("user_passkeys").where("id", "=", id).execute();
}
