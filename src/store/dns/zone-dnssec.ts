import type { Kysely, Selectable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { ZoneDnssecKeysTable, ZoneDnssecTable } from "#store/tables/dns.ts";

export type ZoneDnssecRow = Selectable<ZoneDnssecTable>;
export type DnssecKeyRow = Selectable<ZoneDnssecKeysTable>;

export const dnssecOfZone = (db: Kysely<Tables>, zoneId: string): Promise<ZoneDnssecRow | undefined> =>
  db.selectFrom("zone_dnssec").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

/** Oldest first. */
export const dnssecKeysOfZone = (db: Kysely<Tables>, zoneId: string): Promise<DnssecKeyRow[]> =>
  db.selectFrom("zone_dnssec_keys").selectAll().where("zone_id", "=", zoneId).orderBy("created_on").orderBy("id").execute();

export const allDnssec = (db: Kysely<Tables>): Promise<ZoneDnssecRow[]> =>
  db.selectFrom("zone_dnssec").selectAll().orderBy("zone_id").execute();

/** By zone, oldest first. */
export const allDnssecKeys = (db: Kysely<Tables>): Promise<DnssecKeyRow[]> =>
  db.selectFrom("zone_dnssec_keys").selectAll().orderBy("zone_id").orderBy("created_on").orderBy("id").execute();

/**
 * Signed zones whose parent should be checked, the longest overdue first. A check later than `latest` also counts as due:
 * it was set by a clock that was ahead.
 */
export const dnssecChecksDue = (
  db: Kysely<Tables>,
  now: string,
  latest: string,
  limit: number,
): Promise<{ zone_id: string; name: string }[]> =>
  db
    .selectFrom("zone_dnssec")
    .innerJoin("zones", "zones.id", "zone_dnssec.zone_id")
    .select(["zone_dnssec.zone_id", "zones.name"])
    .where((eb) => eb.or([eb("zone_dnssec.next_look_on", "<=", now), eb("zone_dnssec.next_look_on", ">", latest)]))
    .where("zone_dnssec.status", "<>", "disabled")
    .orderBy("zone_dnssec.next_look_on")
    .limit(limit)
    .execute();

/** Inserts the zone's row or replaces it. */
export async function putDnssec(db: Kysely<Tables>, row: ZoneDnssecRow): Promise<void> {
  const { zone_id: _, ...values } = row;
  await db
    .insertInto("zone_dnssec")
    .values(row)
    .onConflict((conflict) => conflict.column("zone_id").doUpdateSet(values))
    .execute();
}

export async function insertDnssecKey(db: Kysely<Tables>, row: DnssecKeyRow): Promise<void> {
  await db.insertInto("zone_dnssec_keys").values(row).execute();
}

export async function deleteDnssecKey(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("zone_dnssec_keys").where("id", "=", id).execute();
}

/** Deletes the zone's row and its keys. */
export async function deleteDnssecOfZone(db: Kysely<Tables>, zoneId: string): Promise<void> {
  // few: the keys of one zone
  await db.deleteFrom("zone_dnssec_keys").where("zone_id", "=", zoneId).execute();
  await db.deleteFrom("zone_dnssec").where("zone_id", "=", zoneId).execute();
}
