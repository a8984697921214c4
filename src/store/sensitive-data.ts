import type { Kysely, Selectable } from "kysely";
import type { SensitiveDataObjectsTable, Tables } from "#store/tables.ts";

export type SensitiveDataRow = Selectable<SensitiveDataObjectsTable>;

type Db = Kysely<Tables>;

/** Oldest first, both kinds. */
export const sensitiveDataOfZone = (db: Db, zoneId: string): Promise<SensitiveDataRow[]> =>
  db.selectFrom("sensitive_data_objects").selectAll().where("zone_id", "=", zoneId).orderBy("created_on").orderBy("id").execute();

/** Of every zone, oldest first. */
export const allSensitiveData = (db: Db): Promise<SensitiveDataRow[]> =>
  db.selectFrom("sensitive_data_objects").selectAll().orderBy("created_on").orderBy("id").execute();

export async function insertSensitiveData(db: Db, row: SensitiveDataRow): Promise<void> {
  await db.insertInto("sensitive_data_objects").values(row).execute();
}

export async function updateSensitiveData(db: Db, row: SensitiveDataRow): Promise<void> {
  await db.updateTable("sensitive_data_objects").set({ value: row.value, modified_on: row.modified_on }).where("id", "=", row.id).execute();
}

export async function deleteSensitiveData(db: Db, id: string): Promise<void> {
  await db.deleteFrom("sensitive_data_objects").where("id", "=", id).execute();
}
