import type { Insertable, Kysely, Selectable, Updateable } from "kysely";
import type { AcceleratorsTable } from "#store/tables/access.ts";
import type { Tables } from "#store/queries/tables.ts";

export type AcceleratorRow = Selectable<AcceleratorsTable>;

export const acceleratorsOfAccount = (db: Kysely<Tables>, accountId: string): Promise<AcceleratorRow[]> =>
  db.selectFrom("accelerators").selectAll().where("account_id", "=", accountId).orderBy("created_on").orderBy("id").execute();

export async function insertAccelerator(db: Kysely<Tables>, row: Insertable<AcceleratorsTable>): Promise<void> {
  await db.insertInto("accelerators").values(row).execute();
}

export async function updateAccelerator(db: Kysely<Tables>, id: string, change: Updateable<AcceleratorsTable>): Promise<void> {
  await db.updateTable("accelerators").set(change).where("id", "=", id).execute();
}

export async function deleteAccelerator(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("accelerators").where("id", "=", id).execute();
}
