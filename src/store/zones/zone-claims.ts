import type { Kysely, Selectable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { ZoneClaimsTable } from "#store/tables/zones.ts";

export type ZoneClaimRow = Selectable<ZoneClaimsTable>;

export const claimOf = (db: Kysely<Tables>, zoneId: string): Promise<ZoneClaimRow | undefined> =>
  db.selectFrom("zone_claims").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

export async function putClaim(db: Kysely<Tables>, row: ZoneClaimRow): Promise<void> {
  const { zone_id: _, ...values } = row;
  await db
    .insertInto("zone_claims")
    .values(row)
    .onConflict((conflict) => conflict.column("zone_id").doUpdateSet(values))
    .execute();
}

export async function deleteClaim(db: Kysely<Tables>, zoneId: string): Promise<void> {
  await db.deleteFrom("zone_claims").where("zone_id", "=", zoneId).execute();
}

/** Zones whose check is due, the longest overdue first. */
export async function claimsDue(db: Kysely<Tables>, nowMs: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("zone_claims")
    .select("zone_id")
    .where("next_look_ms", "<=", nowMs)
    .orderBy("next_look_ms")
    .limit(limit)
    .execute();
  return rows.map(({ zone_id }) => zone_id);
}
