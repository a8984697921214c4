import { type Kysely, type Selectable, sql, type Updateable } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { CertificateOrdersTable, CertificateRenewalsTable } from "#store/tables/certificates.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CertificateOrderRow = Selectable<CertificateOrdersTable>;
export type CertificateRenewalRow = Selectable<CertificateRenewalsTable>;
export type OwnerKind = CertificateOrderRow["owner_kind"];

/** The zone or custom hostname that a certificate belongs to. */
export interface CertificateOwner {
  readonly owner_kind: OwnerKind;
  readonly owner_id: string;
}

type Db = Kysely<Tables>;

export async function insertOrder(db: Db, row: CertificateOrderRow): Promise<void> {
  await db.insertInto("certificate_orders").values(row).execute();
}

export const orderById = (db: Db, id: string): Promise<CertificateOrderRow | undefined> =>
  db.selectFrom("certificate_orders").selectAll().where("id", "=", id).executeTakeFirst();

export const orderFromRow = (db: Db, { owner_kind, owner_id }: CertificateOwner): Promise<CertificateOrderRow | undefined> =>
  db.selectFrom("certificate_orders").selectAll().where("owner_kind", "=", owner_kind).where("owner_id", "=", owner_id).executeTakeFirst();

/** Deletes the orders and renewals of a deleted zone. */
export async function deleteOrdersOfZone(db: Db, zoneId: string): Promise<void> {
  const where = sql`zone_id = ${zoneId}`;
  await deleteInChunks(db, { table: "certificate_orders", key: ["id"], where });
  await deleteInChunks(db, { table: "certificate_renewals", key: ["owner_kind", "owner_id"], where });
}

/** Orders whose challenges must be answered. */
export const placedOrders = (db: Db): Promise<CertificateOrderRow[]> =>
  db.selectFrom("certificate_orders").selectAll().where("placed", "is not", null).orderBy("id").execute();

export async function updateOrder(db: Db, id: string, values: Updateable<CertificateOrdersTable>): Promise<void> {
  await db.updateTable("certificate_orders").set(values).where("id", "=", id).execute();
}

export async function deleteOrder(db: Db, id: string): Promise<void> {
  await db.deleteFrom("certificate_orders").where("id", "=", id).execute();
}

export async function putRenewal(db: Db, row: CertificateRenewalRow): Promise<void> {
  const { owner_kind: _, owner_id: __, ...values } = row;
  await db
    .insertInto("certificate_renewals")
    .values(row)
    .onConflict((conflict) => conflict.columns(["owner_kind", "owner_id"]).doUpdateSet(values))
    .execute();
}

/** Due renewals of active zones, taken from each account in turn. */
export const dueRenewals = (db: Db, nowMs: number, limit: number): Promise<CertificateRenewalRow[]> =>
  db
    .selectFrom("certificate_renewals")
    .innerJoin("zones", "zones.id", "certificate_renewals.zone_id")
    .selectAll("certificate_renewals")
    .where("renew_ms", "<=", nowMs)
    .where("zones.status", "=", "active")
    .orderBy(sql`row_number() OVER (PARTITION BY zones.account_id ORDER BY renew_ms)`)
    .orderBy("renew_ms")
    .limit(limit)
    .execute();

/** Renewals for which the authority should be asked for a renewal time (RFC 9773). */
export const renewalsToAdvise = (db: Db, nowMs: number, limit: number): Promise<CertificateRenewalRow[]> =>
  db
    .selectFrom("certificate_renewals")
    .selectAll()
    .where("advice_ms", "<=", nowMs)
    .where("renewal_id", "is not", null)
    .orderBy("advice_ms")
    .limit(limit)
    .execute();

export const renewalOf = (db: Db, { owner_kind, owner_id }: CertificateOwner): Promise<CertificateRenewalRow | undefined> =>
  db
    .selectFrom("certificate_renewals")
    .selectAll()
    .where("owner_kind", "=", owner_kind)
    .where("owner_id", "=", owner_id)
    .executeTakeFirst();

export async function updateRenewal(db: Db, owner: CertificateOwner, values: Updateable<CertificateRenewalsTable>): Promise<void> {
  await db
    .updateTable("certificate_renewals")
    .set(values)
    .where("owner_kind", "=", owner.owner_kind)
    .where("owner_id", "=", owner.owner_id)
    .execute();
}

export async function deleteRenewal(db: Db, owner: CertificateOwner): Promise<void> {
  await db.deleteFrom("certificate_renewals").where("owner_kind", "=", owner.owner_kind).where("owner_id", "=", owner.owner_id).execute();
}

/** Active full zones without a certificate of these authorities and without an order, taken from each account in turn. */
export const zonesWithoutCertificateOf = (db: Db, issuers: readonly string[], limit: number): Promise<{ id: string; name: string }[]> =>
  db
    .selectFrom("zones")
    .select(["id", "name"])
    .where("status", "=", "active")
    .where("type", "=", "full")
    // No name in a zone with the slash of RFC 2317 is a host.
    .where("name", "not like", "%/%")
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("certificates")
            .select("certificates.id")
            .whereRef("certificates.zone_id", "=", "zones.id")
            .where("certificates.issuer", "in", issuers),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("certificate_orders")
            .select("certificate_orders.id")
            .where("certificate_orders.owner_kind", "=", "zone")
            .whereRef("certificate_orders.owner_id", "=", "zones.id"),
        ),
      ),
    )
    .orderBy(sql`row_number() OVER (PARTITION BY account_id ORDER BY id)`)
    .orderBy("id")
    .limit(limit)
    .execute();

/** Whether the zone has a CNAME at this name; other records cannot exist beside it (RFC 1034 §3.6.2). */
export const hasAlias = async (db: Db, zoneId: string, name: string): Promise<boolean> =>
  (await db
    .selectFrom("dns_records")
    .select("id")
    .where("zone_id", "=", zoneId)
    .where("name", "=", name)
    .where("type", "=", "CNAME")
    .executeTakeFirst()) !== undefined;
