import { type Kysely, type Selectable, sql, type Updateable } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { PageResourcesTable } from "#store/tables/detection.ts";
import type { Tables } from "#store/queries/tables.ts";

type Db = Kysely<Tables>;
export type PageResourceRow = Selectable<PageResourcesTable>;

/** All of a kind in a zone, at most as many as control keeps. */
export const pageResourcesOf = (db: Db, zoneId: string, kind: PageResourceRow["kind"]): Promise<PageResourceRow[]> =>
  db.selectFrom("page_resources").selectAll().where("zone_id", "=", zoneId).where("kind", "=", kind).execute();

export const pageResource = (db: Db, zoneId: string, id: string): Promise<PageResourceRow | undefined> =>
  db.selectFrom("page_resources").selectAll().where("zone_id", "=", zoneId).where("id", "=", id).executeTakeFirst();

/** Does nothing if another thread has reported it meanwhile. */
export async function insertPageResource(db: Db, row: PageResourceRow): Promise<void> {
  await db
    .insertInto("page_resources")
    .values(row)
    .onConflict((conflict) => conflict.columns(["zone_id", "id"]).doNothing())
    .execute();
}

export async function updatePageResource(
  db: Db,
  { zone_id, id }: Pick<PageResourceRow, "zone_id" | "id">,
  change: Updateable<PageResourcesTable>,
): Promise<void> {
  await db.updateTable("page_resources").set(change).where("zone_id", "=", zone_id).where("id", "=", id).execute();
}

export async function countPageResources(db: Db, zoneId: string, kind: PageResourceRow["kind"]): Promise<number> {
  const { total } = await db
    .selectFrom("page_resources")
    .select(({ fn }) => fn.countAll().as("total"))
    .where("zone_id", "=", zoneId)
    .where("kind", "=", kind)
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** Deletes the ones of a kind that were seen the longest ago. */
export async function deleteOldestPageResources(db: Db, zoneId: string, kind: PageResourceRow["kind"], count: number): Promise<void> {
  const oldest = db
    .selectFrom("page_resources")
    .select("id")
    .where("zone_id", "=", zoneId)
    .where("kind", "=", kind)
    .orderBy("last_seen_at")
    .limit(count);
  await db.deleteFrom("page_resources").where("zone_id", "=", zoneId).where("id", "in", oldest).execute();
}

/** Deletes those that were last seen before the time, of all zones. */
export const deletePageResourcesBefore = (db: Db, time: string): Promise<void> =>
  deleteInChunks(db, { table: "page_resources", key: ["zone_id", "id"], where: sql`last_seen_at < ${time}` });

/** Scripts to fetch by the time, the longest overdue first. */
export const scriptsToFetch = (db: Db, nowMs: number, limit: number): Promise<PageResourceRow[]> =>
  db.selectFrom("page_resources").selectAll().where("fetch_due_ms", "<=", nowMs).orderBy("fetch_due_ms").limit(limit).execute();

/** Those whose news nobody has been told. */
export const untoldPageResources = (db: Db, limit: number): Promise<PageResourceRow[]> =>
  db
    .selectFrom("page_resources")
    .selectAll()
    .where("untold", "is not", null)
    .orderBy("zone_id")
    .orderBy("first_seen_at")
    .limit(limit)
    .execute();

/** Whether a page of the zone has had something of the kind from this host before the time. */
export async function knewHost(db: Db, row: Pick<PageResourceRow, "zone_id" | "kind" | "host" | "first_seen_at">): Promise<boolean> {
  const before = await db
    .selectFrom("page_resources")
    .select("id")
    .where("zone_id", "=", row.zone_id)
    .where("kind", "=", row.kind)
    .where("host", "=", row.host)
    .where("first_seen_at", "<", row.first_seen_at)
    .limit(1)
    .executeTakeFirst();
  return before !== undefined;
}

/** `ids`: at most some hundreds. */
export async function markPageResourcesTold(db: Db, zoneId: string, ids: readonly string[]): Promise<void> {
  await db.updateTable("page_resources").set({ untold: null }).where("zone_id", "=", zoneId).where("id", "in", ids).execute();
}
