import type { Kysely, Selectable } from "kysely";
import type { FallbackOriginsTable } from "#store/tables/hostnames.ts";
import type { Tables } from "#store/queries/tables.ts";

export type FallbackOriginRow = Selectable<FallbackOriginsTable>;

export const fallbackOrigin = (db: Kysely<Tables>, zoneId: string): Promise<FallbackOriginRow | undefined> =>
  db.selectFrom("fallback_origins").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

export const allFallbackOrigins = (db: Kysely<Tables>): Promise<FallbackOriginRow[]> =>
  db.selectFrom("fallback_origins").selectAll().orderBy("zone_id").execute();

export async function putFallbackOrigin(db: Kysely<Tables>, row: FallbackOriginRow): Promise<void> {
  await db
    .insertInto("fallback_origins")
    .values(row)
    .onConflict((conflict) => conflict.column("zone_id").doUpdateSet({ origin: row.origin, updated_at: row.updated_at }))
    .execute();
}

export async function deleteFallbackOrigin(db: Kysely<Tables>, zoneId: string): Promise<void> {
  await db.deleteFrom("fallback_origins").where("zone_id", "=", zoneId).execute();
}
