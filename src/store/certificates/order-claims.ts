import { type Kysely, sql } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { CertificateOwner, OwnerKind } from "./certificate-orders.ts";

type Db = Kysely<Tables>;

export const hasDueOrders = async (db: Db, nowMs: number): Promise<boolean> =>
  (await db
    .selectFrom("certificate_orders")
    .select("id")
    .where("due_ms", "<=", nowMs)
    .where("lease_ms", "<=", nowMs)
    .limit(1)
    .executeTakeFirst()) !== undefined;

export interface OrderClaim {
  readonly nowMs: number;
  readonly leaseMs: number;
  readonly limit: number;
  readonly perAccount: number;
  readonly perAuthority: number;
  readonly preferred: Readonly<Record<OwnerKind, string>>;
}

/**
 * Claims due orders for the caller until the lease ends: renewals first, then one order per account in turn, so that no
 * account waits for a thousand orders of another. An account has at most `perAccount` claimed orders, an authority at most
 * `perAuthority`; an order that names none counts for the `preferred` one of its kind.
 */
export async function claimOrders(db: Db, claim: OrderClaim): Promise<string[]> {
  const { preferred } = claim;
  // Orders of the installation's own authority, which is never slow, all have the same name too.
  const authority = sql<string>`CASE WHEN certificate_orders.authority <> '' THEN certificate_orders.authority
    WHEN certificate_orders.requested <> '' THEN certificate_orders.requested
    WHEN certificate_orders.owner_kind = 'custom_hostname' THEN ${sql.lit(preferred.custom_hostname)}
    WHEN certificate_orders.owner_kind = 'certificate_pack' THEN ${sql.lit(preferred.certificate_pack)}
    ELSE ${sql.lit(preferred.zone)} END`;
  const busy = db
    .selectFrom("certificate_orders")
    .select((eb) => [authority.as("name"), eb.fn.countAll<number>().as("orders")])
    .where("certificate_orders.lease_ms", ">", claim.nowMs)
    .groupBy(authority);
  const inHand = db
    .selectFrom("certificate_orders")
    .innerJoin("zones", "zones.id", "certificate_orders.zone_id")
    .select((eb) => ["zones.account_id", eb.fn.countAll<number>().as("orders")])
    .where("certificate_orders.lease_ms", ">", claim.nowMs)
    .groupBy("zones.account_id");
  const ranked = db
    .selectFrom("certificate_orders")
    .innerJoin("zones", "zones.id", "certificate_orders.zone_id")
    .leftJoin(inHand.as("in_hand"), "in_hand.account_id", "zones.account_id")
    .select([
      "certificate_orders.id",
      "certificate_orders.due_ms",
      authority.as("authority_name"),
      sql<number>`CASE WHEN certificate_orders.replaces IS NULL THEN 1 ELSE 0 END`.as("is_new"),
      sql<number>`coalesce(in_hand.orders, 0) + row_number() OVER (PARTITION BY zones.account_id ORDER BY CASE WHEN certificate_orders.replaces IS NULL THEN 1 ELSE 0 END, certificate_orders.due_ms)`.as(
        "place",
      ),
    ])
    .where("certificate_orders.due_ms", "<=", claim.nowMs)
    .where("certificate_orders.lease_ms", "<=", claim.nowMs);
  const placed = db
    .selectFrom(ranked.as("ranked"))
    .leftJoin(busy.as("busy"), "busy.name", "ranked.authority_name")
    .select([
      ...(["ranked.id", "ranked.due_ms", "ranked.is_new", "ranked.place"] as const),
      sql<number>`coalesce(busy.orders, 0) + row_number() OVER (PARTITION BY ranked.authority_name ORDER BY ranked.is_new, ranked.place, ranked.due_ms)`.as(
        "authority_place",
      ),
    ])
    .where("ranked.place", "<=", claim.perAccount);
  const next = db
    .selectFrom(placed.as("placed"))
    .select("id")
    .where("authority_place", "<=", claim.perAuthority)
    .orderBy("is_new")
    .orderBy("place")
    .orderBy("due_ms")
    .limit(claim.limit);
  const rows = await db
    .updateTable("certificate_orders")
    .set({ lease_ms: claim.nowMs + claim.leaseMs })
    .where("id", "in", next)
    .where("lease_ms", "<=", claim.nowMs)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Claims the owner's order, due or not, unless it is claimed already. */
export const claimOrderOf = async (
  db: Db,
  { owner_kind, owner_id }: CertificateOwner,
  nowMs: number,
  leaseMs: number,
): Promise<string | undefined> =>
  (
    await db
      .updateTable("certificate_orders")
      .set({ lease_ms: nowMs + leaseMs })
      .where("owner_kind", "=", owner_kind)
      .where("owner_id", "=", owner_id)
      .where("lease_ms", "<=", nowMs)
      .returning("id")
      .executeTakeFirst()
  )?.id;

/** Releases all claimed orders after their process has ended. */
export async function releaseOrders(db: Db): Promise<void> {
  // few: the orders that one process had claimed
  await db.updateTable("certificate_orders").set({ lease_ms: 0 }).where("lease_ms", ">", 0).execute();
}
