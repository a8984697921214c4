import type { Kysely, Selectable } from "kysely";
import type { Tables, ZoneDnssecTable } from "#store/tables.ts";

export type ZoneDnssecRow = Selectable<ZoneDnssecTable>;

export const dnssecOfZone = (db: Kysely<Tables>, zoneId: string): Promise<ZoneDnssecRow | undefined> =>
  db.selectFrom("zone_dnssec").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

export const allDnssec = (db: Kysely<Tables>): Promise<ZoneDnssecRow[]> =>
  db.selectFrom("zone_dnssec").selectAll().orderBy("zone_id").execute();

/** Inserts the zone's row or replaces it. */
export async function putDnssec(db: Kysely<Tables>, row: ZoneDnssecRow): Promise<void> {
  const { zone_id: _, ...values } = row;
  await db
    .insertInto("zone_dnssec")
    .values(row)
    .onConflict((conflict) => conflict.column("zone_id").doUpdateSet(values))
    .execute();
}

export async function deleteDnssecOfZone(db: Kysely<Tables>, zoneId: string): Promise<void> {
  await db.deleteFrom("zone_dnssec").where("zone_id", "=", zoneId).execute();
}
