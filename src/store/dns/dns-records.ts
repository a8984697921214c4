import type { DnsRecordRow } from "./record-row.ts";
import type { Kysely } from "kysely";
import type { Tables } from "#store/queries/tables.ts";

/** The columns of a `DnsRecordRow`. */
export const RECORD_COLUMNS = [
  "id",
  "zone_id",
  "name",
  "type",
  "content",
  "content_key",
  "data",
  "priority",
  "ttl",
  "proxied",
  "settings",
  "comment",
  "tags",
  "rdata",
  "comment_modified_on",
  "tags_modified_on",
  "created_on",
  "modified_on",
] as const satisfies readonly (keyof DnsRecordRow)[];

type Db = Kysely<Tables>;

export const recordById = (db: Db, zoneId: string, id: string): Promise<DnsRecordRow | undefined> =>
  db.selectFrom("dns_records").select(RECORD_COLUMNS).where("id", "=", id).where("zone_id", "=", zoneId).executeTakeFirst();

/** Columns of a record that the snapshot contains. */
const SNAPSHOT_COLUMNS = ["id", "zone_id", "name", "type", "content", "ttl", "proxied", "rdata", "settings"] as const;

/** All records by key, `limit` at a time, so that rebuilding the snapshot never holds a second copy of the table. */
export const recordsAfter = (db: Db, id: string, limit: number): Promise<Pick<DnsRecordRow, (typeof SNAPSHOT_COLUMNS)[number]>[]> =>
  db.selectFrom("dns_records").select(SNAPSHOT_COLUMNS).where("id", ">", id).orderBy("id").limit(limit).execute();

/** The zone's first records by name, so that those of one unit share pages of the indexes; an empty array when none are left. */
export const firstOfZone = (db: Db, zoneId: string, limit: number) =>
  db
    .selectFrom("dns_records")
    .select(["id", "name", "content", "rdata"])
    .where("zone_id", "=", zoneId)
    .orderBy("name")
    .limit(limit)
    .execute();

export async function deleteRecords(db: Db, ids: readonly string[]): Promise<void> {
  await db.deleteFrom("dns_records").where("id", "in", ids).execute();
}
