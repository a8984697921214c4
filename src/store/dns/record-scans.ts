import { type Kysely, sql } from "kysely";
import type { DnsRecordRow } from "./record-row.ts";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { Tables } from "#store/queries/tables.ts";

type Db = Kysely<Tables>;

/** Candidates that the last scan of the zone found. */
export async function scanCandidates(db: Db, zoneId: string): Promise<DnsRecordRow[]> {
  const rows = await db.selectFrom("dns_scan_candidates").select("record").where("zone_id", "=", zoneId).orderBy("id").execute();
  return rows.map(({ record }) => JSON.parse(record) as DnsRecordRow);
}

/** Replaces the candidates of the previous scan. */
export async function replaceScanCandidates(db: Db, zoneId: string, found: readonly DnsRecordRow[]): Promise<void> {
  await deleteInChunks(db, { table: "dns_scan_candidates", key: ["id"], where: sql`zone_id = ${zoneId}` });
  for (const row of found) {
    await db
      .insertInto("dns_scan_candidates")
      .values({ id: row.id, zone_id: zoneId, record: JSON.stringify(row) })
      .execute();
  }
}

export async function deleteScanCandidate(db: Db, zoneId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("dns_scan_candidates")
    .where("zone_id", "=", zoneId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
