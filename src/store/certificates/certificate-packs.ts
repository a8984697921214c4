import type { Insertable, Kysely, Selectable, Updateable } from "kysely";
import type { CertificatePacksTable } from "#store/tables/certificates.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CertificatePackRow = Selectable<CertificatePacksTable>;

type Db = Kysely<Tables>;

export async function insertCertificatePack(db: Db, row: Insertable<CertificatePacksTable>): Promise<void> {
  await db.insertInto("certificate_packs").values(row).execute();
}

export const certificatePack = (db: Db, id: string): Promise<CertificatePackRow | undefined> =>
  db.selectFrom("certificate_packs").selectAll().where("id", "=", id).executeTakeFirst();

/** Oldest first. */
export const certificatePacksOfZone = (db: Db, zoneId: string): Promise<CertificatePackRow[]> =>
  db.selectFrom("certificate_packs").selectAll().where("zone_id", "=", zoneId).orderBy("created_on").orderBy("id").execute();

/** Packs of every zone that have a certificate. */
export const packsInUse = (db: Db): Promise<CertificatePackRow[]> =>
  db.selectFrom("certificate_packs").selectAll().where("chain", "is not", null).orderBy("id").execute();

export async function updateCertificatePack(db: Db, id: string, values: Updateable<CertificatePacksTable>): Promise<void> {
  await db.updateTable("certificate_packs").set(values).where("id", "=", id).execute();
}

export async function deleteCertificatePack(db: Db, id: string): Promise<void> {
  await db.deleteFrom("certificate_packs").where("id", "=", id).execute();
}
