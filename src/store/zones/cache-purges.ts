import type { Kysely, Selectable } from "kysely";
import type { CachePurgesTable } from "#store/tables/zones.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CachePurgesRow = Selectable<CachePurgesTable>;

/** Undefined if nothing was ever purged. */
export const purgesOfZone = (db: Kysely<Tables>, zoneId: string): Promise<CachePurgesRow | undefined> =>
  db.selectFrom("cache_purges").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

export const allPurges = (db: Kysely<Tables>): Promise<CachePurgesRow[]> =>
  db.selectFrom("cache_purges").selectAll().orderBy("zone_id").execute();

/** Inserts the zone's row or replaces it. */
export async function putPurges(db: Kysely<Tables>, row: CachePurgesRow): Promise<void> {
  await db
    .insertInto("cache_purges")
    .values(row)
    .onConflict((conflict) => conflict.column("zone_id").doUpdateSet({ value: row.value }))
    .execute();
}
