import type { Kysely, Selectable } from "kysely";
import type { ImageKeysTable, ImageVariantsTable } from "#store/tables/images.ts";
import type { Tables } from "#store/queries/tables.ts";

export type ImageVariantRow = Selectable<ImageVariantsTable>;
type Db = Kysely<Tables>;

export const variantsOfAccount = (db: Db, accountId: string): Promise<ImageVariantRow[]> =>
  db.selectFrom("image_variants").selectAll().where("account_id", "=", accountId).orderBy("id").execute();

export const findVariant = (db: Db, accountId: string, id: string): Promise<ImageVariantRow | undefined> =>
  db.selectFrom("image_variants").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

export async function putVariant(db: Db, row: ImageVariantRow): Promise<void> {
  const { account_id: _account, id: _id, ...change } = row;
  await db
    .insertInto("image_variants")
    .values(row)
    .onConflict((conflict) => conflict.columns(["account_id", "id"]).doUpdateSet(change))
    .execute();
}

export async function deleteVariant(db: Db, accountId: string, id: string): Promise<void> {
  await db.deleteFrom("image_variants").where("account_id", "=", accountId).where("id", "=", id).execute();
}

export const imageKeysOfAccount = (db: Db, accountId: string): Promise<Selectable<ImageKeysTable>[]> =>
  db.selectFrom("image_keys").selectAll().where("account_id", "=", accountId).orderBy("name").execute();

export async function insertImageKey(db: Db, row: Selectable<ImageKeysTable>): Promise<void> {
  await db.insertInto("image_keys").values(row).execute();
}

export async function deleteImageKey(db: Db, accountId: string, name: string): Promise<void> {
  // few: one row
  await db.deleteFrom("image_keys").where("account_id", "=", accountId).where("name", "=", name).execute();
}
