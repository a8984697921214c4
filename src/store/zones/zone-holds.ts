import type { Kysely, Selectable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { ZoneHoldsTable } from "#store/tables/zones.ts";

export type ZoneHoldRow = Selectable<ZoneHoldsTable>;

export const zoneHold = (db: Kysely<Tables>, zoneId: string): Promise<ZoneHoldRow | undefined> =>
  db.selectFrom("zone_holds").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

export async function putZoneHold(db: Kysely<Tables>, row: ZoneHoldRow): Promise<void> {
  const { zone_id: _, ...values } = row;
  await db
    .insertInto("zone_holds")
    .values(row)
    .onConflict((conflict) => conflict.column("zone_id").doUpdateSet(values))
    .execute();
}

/** A hold with the owner of its zone. */
export type HoldOfZone = ZoneHoldRow & { readonly account_id: string; readonly name: string; readonly proof: string };

/** Holds of active zones with one of these names. */
export const holdsOfNames = (db: Kysely<Tables>, names: readonly string[]): Promise<HoldOfZone[]> =>
  db
    .selectFrom("zone_holds")
    .innerJoin("zones", "zones.id", "zone_holds.zone_id")
    .selectAll("zone_holds")
    .select(["zones.account_id", "zones.name", "zones.proof"])
    .where("zones.name", "in", names)
    .where("zones.status", "=", "active")
    .execute();
