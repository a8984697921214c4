import type { Kysely, Selectable } from "kysely";
import { isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { RemovalsTable } from "#store/tables/changes.ts";
import type { Tables } from "#store/queries/tables.ts";

export type RemovalRow = Selectable<RemovalsTable>;

type Db = Kysely<Tables>;

/** Schedules the removal of a zone's records and versions; the zone's row is deleted in the same unit. */
export async function removeZoneRows(db: Db, zone_id: string, nowMicros: number): Promise<void> {
  await db
    .insertInto("removals")
    .values({ id: newId(), kind: "zone", zone_id, parts_key: null, created_on: isoMicros(nowMicros) })
    .execute();
}

/** The same of a list's items. */
export async function removeListItems(db: Db, listId: string, nowMicros: number): Promise<void> {
  await db
    .insertInto("removals")
    .values({ id: newId(), kind: "list", zone_id: listId, parts_key: null, created_on: isoMicros(nowMicros) })
    .execute();
}

/** The same of the file of an import that has ended, some megabytes. */
export async function removeImportFile(db: Db, jobId: string, created_on: string): Promise<void> {
  await db.insertInto("removals").values({ id: newId(), kind: "import_file", zone_id: jobId, parts_key: null, created_on }).execute();
}

export async function removeParts(db: Db, zone_id: string, partsKeys: readonly number[], created_on: string): Promise<void> {
  for (const parts_key of partsKeys)
    await db.insertInto("removals").values({ id: newId(), kind: "parts", zone_id, parts_key, created_on }).execute();
}

/** The oldest removals. */
export const someRemovals = (db: Db, limit: number): Promise<RemovalRow[]> =>
  db.selectFrom("removals").selectAll().orderBy("created_on").orderBy("id").limit(limit).execute();

export async function endRemoval(db: Db, id: string): Promise<void> {
  await db.deleteFrom("removals").where("id", "=", id).execute();
}
