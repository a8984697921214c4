import { type Insertable, type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { CertificatesTable } from "#store/tables/certificates.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CertificateRow = Selectable<CertificatesTable>;

export async function insertCertificate(db: Kysely<Tables>, row: Insertable<CertificatesTable>): Promise<void> {
  await db.insertInto("certificates").values(row).execute();
}

export const certificatesOfZone = (db: Kysely<Tables>, zoneId: string): Promise<CertificateRow[]> =>
  db.selectFrom("certificates").selectAll().where("zone_id", "=", zoneId).orderBy("id").execute();

export const allCertificates = (db: Kysely<Tables>): Promise<CertificateRow[]> =>
  db.selectFrom("certificates").selectAll().orderBy("id").execute();

export async function deleteCertificatesOfZone(db: Kysely<Tables>, zoneId: string): Promise<void> {
  await deleteInChunks(db, { table: "certificates", key: ["id"], where: sql`zone_id = ${zoneId}` });
}

export async function deleteCertificate(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("certificates").where("id", "=", id).execute();
}

/** Certificates of active zones that end before `before`, most urgent first, and those that end after `after`. */
export const dueCertificates = (
  db: Kysely<Tables>,
  due: { readonly issuer: string; readonly before: string; readonly after: string; readonly limit: number },
): Promise<{ id: string; zone_id: string }[]> =>
  db
    .selectFrom("certificates")
    .innerJoin("zones", "zones.id", "certificates.zone_id")
    .select(["certificates.id", "certificates.zone_id"])
    .where("zones.status", "=", "active")
    .where("issuer", "=", due.issuer)
    .where((eb) => eb.or([eb("not_after", "<", due.before), eb("not_after", ">", due.after)]))
    .orderBy("not_after")
    .limit(due.limit)
    .execute();
