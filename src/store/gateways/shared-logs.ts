import { type Kysely, type Selectable, sql } from "kysely";
import type { SharedLogReadersTable, SharedLogsTable } from "#store/tables/gateways.ts";
import type { Tables } from "#store/queries/tables.ts";

export type SharedLogRow = Selectable<SharedLogsTable>;
export type SharedLogReader = Selectable<SharedLogReadersTable>;

/** Adds an entry behind all others, and returns its number: the row of the end stays locked until the unit's end, so numbers are in the order of commits. */
export async function addSharedLog(db: Kysely<Tables>, entry: Omit<SharedLogRow, "seq">): Promise<number> {
  const { seq } = await db
    .insertInto("shared_log_end")
    .values({ id: 1, seq: 1 })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ seq: sql<number>`shared_log_end.seq + 1` }))
    .returning("seq")
    .executeTakeFirstOrThrow();
  await db
    .insertInto("shared_logs")
    .values({ seq, ...entry })
    .execute();
  return seq;
}

export const sharedLogAfter = (db: Kysely<Tables>, seq: number): Promise<SharedLogRow | undefined> =>
  db.selectFrom("shared_logs").selectAll().where("seq", ">", seq).orderBy("seq").limit(1).executeTakeFirst();

/** The number of the newest entry, also if it was deleted. */
export async function endOfSharedLogs(db: Kysely<Tables>): Promise<number> {
  return (await db.selectFrom("shared_log_end").select("seq").executeTakeFirst())?.seq ?? 0;
}

export const sharedLogReader = (db: Kysely<Tables>, server: string): Promise<SharedLogReader | undefined> =>
  db.selectFrom("shared_log_readers").selectAll().where("server", "=", server).executeTakeFirst();

export async function hasOtherLogReaders(db: Kysely<Tables>, server: string): Promise<boolean> {
  return (
    (await db.selectFrom("shared_log_readers").select("server").where("server", "!=", server).limit(1).executeTakeFirst()) !== undefined
  );
}

export async function putSharedLogReader(db: Kysely<Tables>, row: SharedLogReader): Promise<void> {
  const { seq, since_ms, seen_ms } = row;
  await db
    .insertInto("shared_log_readers")
    .values(row)
    .onConflict((conflict) => conflict.column("server").doUpdateSet({ seq, since_ms, seen_ms }))
    .execute();
}

/** Forgets servers that were not there since the time, and entries that all others have read. */
export async function trimSharedLogs(db: Kysely<Tables>, seenSinceMs: number): Promise<void> {
  // few: one row for each server
  await db.deleteFrom("shared_log_readers").where("seen_ms", "<", seenSinceMs).execute();
  const { seq } = await db
    .selectFrom("shared_log_readers")
    .select((eb) => eb.fn.min("seq").as("seq"))
    .executeTakeFirstOrThrow();
  if (seq !== null) await dropSharedLogs(db, seq);
}

export async function dropSharedLogs(db: Kysely<Tables>, upTo: number): Promise<void> {
  // few: all of them are bounded by bytes
  await db.deleteFrom("shared_logs").where("seq", "<=", upTo).execute();
}

/** The newest entry that must go so that the others have at most so many bytes; null if none must. */
export async function overflowOfSharedLogs(db: Kysely<Tables>, bytesMax: number): Promise<number | null> {
  const sums = db
    .selectFrom("shared_logs")
    .select(["seq", sql<number>`SUM(bytes) OVER (ORDER BY seq DESC)`.as("total")])
    .as("sums");
  const { seq } = await db
    .selectFrom(sums)
    .select((eb) => eb.fn.max("seq").as("seq"))
    .where("total", ">", bytesMax)
    .executeTakeFirstOrThrow();
  return seq;
}
