import type { Kysely, Selectable } from "kysely";
import type { LogpushJobsTable } from "#store/tables/events.ts";
import type { Tables } from "#store/queries/tables.ts";

export type LogpushJobRow = Selectable<LogpushJobsTable>;

type Db = Kysely<Tables>;

export const logpushJobsOf = (db: Db, accountId: string): Promise<LogpushJobRow[]> =>
  db.selectFrom("logpush_jobs").selectAll().where("account_id", "=", accountId).orderBy("id").execute();

/** Enabled jobs of every account. */
export const enabledLogpushJobs = (db: Db): Promise<LogpushJobRow[]> =>
  db.selectFrom("logpush_jobs").selectAll().where("enabled", "=", 1).orderBy("id").execute();

export const logpushJobById = (db: Db, accountId: string, id: number): Promise<LogpushJobRow | undefined> =>
  db.selectFrom("logpush_jobs").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

export async function insertLogpushJob(db: Db, row: LogpushJobRow): Promise<void> {
  await db.insertInto("logpush_jobs").values(row).execute();
}

export async function updateLogpushJob(db: Db, id: number, values: Partial<LogpushJobRow>): Promise<void> {
  await db.updateTable("logpush_jobs").set(values).where("id", "=", id).execute();
}

export async function deleteLogpushJob(db: Db, id: number): Promise<void> {
  await db.deleteFrom("logpush_jobs").where("id", "=", id).execute();
}
