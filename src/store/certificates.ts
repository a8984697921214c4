import type { Insertable, Kysely, Selectable } from "kysely";
import type { CertificatesTable, Tables } from "#store/tables.ts";

export type CertificateRow = Selectable<CertificatesTable>;

export async function insertCertificate(db: Kysely<Tables>, row: Insertable<CertificatesTable>): Promise<void> {
  await db.insertInto("certificates").values(row).execute();
}

export const certificatesOfZone = (db: Kysely<Tables>, zoneId: string): Promise<CertificateRow[]> =>
  db.selectFrom("certificates").selectAll().where("zone_id", "=", zoneId).orderBy("id").execute();

export const allCertificates = (db: Kysely<Tables>): Promise<CertificateRow[]> =>
  db.selectFrom("certificates").selectAll().orderBy("id").execute();

export async function deleteCertificatesOfZone(db: Kysely<Tables>, zoneId: string): Promise<void> {
  await db.deleteFrom("certificates").where("zone_id", "=", zoneId).execute();
}
