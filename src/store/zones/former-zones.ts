import { type Insertable, type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { FormerZonesTable } from "#store/tables/zones.ts";
import type { Tables } from "#store/queries/tables.ts";

export type FormerZoneRow = Selectable<FormerZonesTable>;

/** Rows of an account beyond which the oldest go, and beyond which its names may not all be reserved. */
export const FORMER_ZONES_MAX = 10_000;
const KEY = ["name", "account_id"] as const;

/** Deleted zones of the name, of any account. */
export const formerZones = (db: Kysely<Tables>, name: string): Promise<FormerZoneRow[]> =>
  db.selectFrom("former_zones").selectAll().where("name", "=", name).execute();

/** Stores the row. Of rows beyond the limit, the account's oldest from before `reservedSinceMs` go. */
export async function putFormerZone(
  db: Kysely<Tables>,
  row: Insertable<FormerZonesTable>,
  reservedSinceMs: number,
  most = FORMER_ZONES_MAX,
): Promise<void> {
  const { name: _, account_id, ...values } = row;
  await db
    .insertInto("former_zones")
    .values(row)
    .onConflict((conflict) => conflict.columns(KEY).doUpdateSet(values))
    .execute();
  const first = await deletionOf(db, account_id, most);
  if (first === null) return;
  const beyond = sql`account_id = ${account_id} AND deleted_ms <= ${first} AND deleted_ms < ${reservedSinceMs}`;
  await deleteInChunks(db, { table: "former_zones", key: KEY, where: beyond });
}

/** Whether so many zones of the account were deleted since the time. */
export async function wereDeletedSince(db: Kysely<Tables>, accountId: string, sinceMs: number, most = FORMER_ZONES_MAX): Promise<boolean> {
  const last = await deletionOf(db, accountId, most - 1);
  return last !== null && last >= sinceMs;
}

/** Time of the deletion after so many newer ones; null if there were not so many. */
async function deletionOf(db: Kysely<Tables>, accountId: string, newer: number): Promise<number | null> {
  const row = await db
    .selectFrom("former_zones")
    .select("deleted_ms")
    .where("account_id", "=", accountId)
    .orderBy("deleted_ms", "desc")
    .limit(1)
    .offset(newer)
    .executeTakeFirst();
  return row === undefined ? null : Number(row.deleted_ms);
}

/** Deletes some rows that have ended; returns whether there may be more. */
export async function deleteSomeFormerZones(db: Kysely<Tables>, nowMs: number, limit: number): Promise<boolean> {
  const some = sql`SELECT name, account_id FROM former_zones WHERE ends_ms <= ${nowMs} ORDER BY ends_ms LIMIT ${sql.lit(limit)}`;
  const { numAffectedRows = 0n } = await sql`DELETE FROM former_zones WHERE (name, account_id) IN (${some})`.execute(db);
  return numAffectedRows === BigInt(limit);
}
