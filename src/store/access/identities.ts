import type { Insertable, Kysely, Selectable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { UserIdentitiesTable } from "#store/tables/access.ts";

export type IdentityRow = Selectable<UserIdentitiesTable>;

export const findIdentity = (db: Kysely<Tables>, issuer: string, subject: string): Promise<IdentityRow | undefined> =>
  db.selectFrom("user_identities").selectAll().where("issuer", "=", issuer).where("subject", "=", subject).executeTakeFirst();

/** Of all providers. */
export const identitiesOfUser = (db: Kysely<Tables>, userId: string): Promise<IdentityRow[]> =>
  db.selectFrom("user_identities").selectAll().where("user_id", "=", userId).execute();

export async function insertIdentity(db: Kysely<Tables>, row: Insertable<UserIdentitiesTable>): Promise<void> {
  await db.insertInto("user_identities").values(row).execute();
}

export async function touchIdentity(db: Kysely<Tables>, { issuer, subject }: IdentityRow, lastUsedOn: string): Promise<void> {
  // few: the key
  await db
    .updateTable("user_identities")
    .set({ last_used_on: lastUsedOn })
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .execute();
}
