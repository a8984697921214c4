import type { Kysely, Selectable } from "kysely";
import type { VisitorKeysTable } from "#store/tables/nodes.ts";
import type { Tables } from "#store/queries/tables.ts";

export type VisitorKeysRow = Omit<Selectable<VisitorKeysTable>, "id">;

/** Undefined while edges share no keys. */
export const visitorKeysRow = (db: Kysely<Tables>): Promise<VisitorKeysRow | undefined> =>
  db.selectFrom("visitor_keys").select(["keys", "made_ms"]).where("id", "=", 1).executeTakeFirst();

export async function putVisitorKeys(db: Kysely<Tables>, row: VisitorKeysRow): Promise<void> {
  await db
    .insertInto("visitor_keys")
    .values({ id: 1, ...row })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
    .execute();
}

/** Somebody may know the keys who must not: none of them is kept at the next change. */
export async function revokeVisitorKeys(db: Kysely<Tables>): Promise<void> {
  // few: the only row
  await db.updateTable("visitor_keys").set({ made_ms: 0 }).execute();
}

export async function deleteVisitorKeys(db: Kysely<Tables>): Promise<void> {
  // few: the only row
  await db.deleteFrom("visitor_keys").execute();
}
