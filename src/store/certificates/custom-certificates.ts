import type { Kysely, Selectable } from "kysely";
import type { CustomCertificatesTable } from "#store/tables/certificates.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CustomCertificateRow = Selectable<CustomCertificatesTable>;

/** By priority: of certificates that cover the same name, the first is used. */
export const customCertificatesOfZone = (db: Kysely<Tables>, zoneId: string): Promise<CustomCertificateRow[]> =>
  db
    .selectFrom("custom_certificates")
    .selectAll()
    .where("zone_id", "=", zoneId)
    .orderBy("type")
    .orderBy("priority", "desc")
    .orderBy("modified_on", "desc")
    .orderBy("id")
    .execute();

/** In the order in which they were sent to the planes. */
export const allCustomCertificates = (db: Kysely<Tables>): Promise<CustomCertificateRow[]> =>
  db.selectFrom("custom_certificates").selectAll().orderBy("modified_on").orderBy("id").execute();

export const customCertificate = (db: Kysely<Tables>, zoneId: string, id: string): Promise<CustomCertificateRow | undefined> =>
  db.selectFrom("custom_certificates").selectAll().where("zone_id", "=", zoneId).where("id", "=", id).executeTakeFirst();

export async function insertCustomCertificate(db: Kysely<Tables>, row: CustomCertificateRow): Promise<void> {
  await db.insertInto("custom_certificates").values(row).execute();
}

export async function updateCustomCertificate(db: Kysely<Tables>, { id, ...values }: CustomCertificateRow): Promise<void> {
  await db.updateTable("custom_certificates").set(values).where("id", "=", id).execute();
}

export async function deleteCustomCertificate(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("custom_certificates").where("id", "=", id).execute();
}
