import type { Kysely, Selectable } from "kysely";
import type { FormerZonesTable } from "#store/tables/zones.ts";
import type { Tables } from "#store/queries/tables.ts";

export type FormerZoneRow = Selectable<FormerZonesTable>;

/** Deleted zones of the name, of any account. */
export const formerZones = (db: Kysely<Tables>, name: string): Promise<FormerZoneRow[]> =>
  db.selectFrom("former_zones").selectAll().where("name", "=", name).execute();

export async function putFormerZone(db: Kysely<Tables>, row: FormerZoneRow): Promise<void> {
  const { name: _, account_id: __, ...values } = row;
  await db
    .insertInto("former_zones")
    .values(row)
    .onConflict((conflict) => conflict.columns(["name", "account_id"]).doUpdateSet(values))
    .execute();
}
