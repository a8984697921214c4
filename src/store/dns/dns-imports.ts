import type { Kysely, Selectable } from "kysely";
import { isUniqueViolation } from "#store/queries/session.ts";
import { RECORD_COLUMNS } from "./dns-records.ts";
import type { DnsRecordRow } from "./record-row.ts";
import type { DnsImportsTable } from "#store/tables/dns.ts";
import type { Tables } from "#store/queries/tables.ts";

/**
 * A large change in progress. Its chunks are already in the zone's rows but belong to no version yet. Records of an
 * import have ids that begin with the import's; changes by other kinds are in version parts that their version will take
 * over.
 */
export type DnsImportRow = Omit<Selectable<DnsImportsTable>, "unit" | "run">;

type ImportKey = Pick<DnsImportRow, "zone_id" | "id">;

type Db = Kysely<Tables>;

/** Half of a record's id; the other half is a counter. */
export const IMPORT_ID_LENGTH = 16;

export const importedRecordId = (importId: string, number: number): string =>
  importId + number.toString(16).padStart(IMPORT_ID_LENGTH, "0");

/** The id of the import that a record with this id would belong to. */
export const importOfRecord = (recordId: string): string => recordId.slice(0, IMPORT_ID_LENGTH);

/** False if the zone has a large change in progress. */
export async function beginImport(db: Db, row: DnsImportRow): Promise<boolean> {
  try {
    await db.insertInto("dns_imports").values(row).execute();
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

/** False if it is no longer in progress. */
export async function touchImport(db: Db, { zone_id, id, touched_on }: DnsImportRow): Promise<boolean> {
  const query = db.updateTable("dns_imports").set({ touched_on }).where("zone_id", "=", zone_id).where("id", "=", id);
  return (await query.executeTakeFirst()).numUpdatedRows > 0n;
}

/**
 * Marks a unit as done by a run, unless another run has done it. Returns the run that has; undefined if the change is no longer in progress.
 */
export async function markUnit(db: Db, { zone_id, id }: ImportKey, unit: number, run: number): Promise<number | undefined> {
  const marked = await db
    .updateTable("dns_imports")
    .set({ unit, run })
    .where("zone_id", "=", zone_id)
    .where("id", "=", id)
    .where("unit", "<", unit)
    .executeTakeFirst();
  if (marked.numUpdatedRows > 0n) return run;
  const row = await db.selectFrom("dns_imports").select("run").where("zone_id", "=", zone_id).where("id", "=", id).executeTakeFirst();
  return row?.run;
}

export async function endImport(db: Db, { zone_id, id }: ImportKey): Promise<void> {
  await db.deleteFrom("dns_imports").where("zone_id", "=", zone_id).where("id", "=", id).execute();
}

export const importOfZone = (db: Db, zoneId: string): Promise<DnsImportRow | undefined> =>
  db.selectFrom("dns_imports").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

/** Changes without progress since the time; all changes without a time. */
export const importsUntouchedSince = (db: Db, since?: string): Promise<DnsImportRow[]> => {
  const all = db.selectFrom("dns_imports").selectAll();
  return (since === undefined ? all : all.where("touched_on", "<", since)).execute();
};

/** Some of the records that the import wrote. */
export const importedRecords = (db: Db, { zone_id, id }: ImportKey, limit: number): Promise<DnsRecordRow[]> =>
  db
    .selectFrom("dns_records")
    .select(RECORD_COLUMNS)
    .where("id", ">=", importedRecordId(id, 0))
    .where("id", "<=", id + "f".repeat(IMPORT_ID_LENGTH))
    .where("zone_id", "=", zone_id)
    .orderBy("id")
    .limit(limit)
    .execute();
