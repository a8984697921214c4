import { type Kysely, type Selectable, type Updateable, sql } from "kysely";
import { deleteOwned } from "#store/queries/in-chunks.ts";
import type { DnsImportJobsTable } from "#store/tables/dns.ts";
import type { Tables } from "#store/queries/tables.ts";

export type DnsImportJobRow = Selectable<DnsImportJobsTable>;

type Db = Kysely<Tables>;

export async function insertImportJob(db: Db, row: DnsImportJobRow): Promise<void> {
  await db.insertInto("dns_import_jobs").values(row).execute();
}

export async function insertImportFilePart(db: Db, job_id: string, part: number, content: string): Promise<void> {
  await db.insertInto("dns_import_files").values({ job_id, part, content }).execute();
}

export const importFilePart = async (db: Db, jobId: string, part: number): Promise<string | undefined> =>
  (await db.selectFrom("dns_import_files").select("content").where("job_id", "=", jobId).where("part", "=", part).executeTakeFirst())
    ?.content;

/** Deletes the next part; false if none is left. SQLite goes through all pages of a part, without a pause. */
export async function deleteImportFilePart(db: Db, jobId: string): Promise<boolean> {
  const next = db
    .selectFrom("dns_import_files")
    .select((eb) => eb.fn.min("part").as("part"))
    .where("job_id", "=", jobId);
  // few: one part
  const query = db.deleteFrom("dns_import_files").where("job_id", "=", jobId).where("part", "in", next);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** False if the job is no longer in one of the states `from`. */
export async function updateImportJob(
  db: Db,
  id: string,
  from: readonly string[],
  values: Updateable<DnsImportJobsTable>,
): Promise<boolean> {
  const query = db.updateTable("dns_import_jobs").set(values).where("id", "=", id).where("status", "in", from);
  return (await query.executeTakeFirst()).numUpdatedRows > 0n;
}

export const importJob = (db: Db, zoneId: string, id: string): Promise<DnsImportJobRow | undefined> =>
  db.selectFrom("dns_import_jobs").selectAll().where("zone_id", "=", zoneId).where("id", "=", id).executeTakeFirst();

/** Newest first. */
export const importJobsOfZone = (db: Db, zoneId: string, limit: number): Promise<DnsImportJobRow[]> =>
  db.selectFrom("dns_import_jobs").selectAll().where("zone_id", "=", zoneId).orderBy("created_on", "desc").limit(limit).execute();

/** Unfinished jobs, oldest first. */
export const openImportJobs = (db: Db): Promise<DnsImportJobRow[]> =>
  db
    .selectFrom("dns_import_jobs")
    .selectAll()
    .where("status", "in", ["receiving", "queued", "running"])
    .orderBy("created_on")
    .orderBy("id")
    .execute();

/** More than an import adds, so that old jobs never accumulate. */
const FORGOTTEN_AT_ONCE = 20;

/** Keeps only the zone's newest jobs. */
export async function forgetImportJobs(db: Db, zoneId: string, kept: number): Promise<void> {
  const old = await db
    .selectFrom("dns_import_jobs")
    .select("id")
    .where("zone_id", "=", zoneId)
    .where("finished_on", "is not", null)
    .orderBy("created_on", "desc")
    .limit(FORGOTTEN_AT_ONCE)
    .offset(kept)
    .execute();
  for (const { id } of old) {
    await deleteOwned(db, "dns_import_jobs", sql`id = ${id}`);
    await db.deleteFrom("dns_import_jobs").where("id", "=", id).execute();
  }
}
