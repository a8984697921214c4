import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { GatewayDomainsTable } from "#store/tables/gateways.ts";
import type { Tables } from "#store/queries/tables.ts";

export type GatewayDomainRow = Selectable<GatewayDomainsTable>;
/** With the status of the zone that contains the name. */
export type GatewayDomainWithZone = GatewayDomainRow & { readonly zone_status: string };

const withZone = (db: Kysely<Tables>) =>
  db
    .selectFrom("gateway_domains")
    .innerJoin("zones", "zones.id", "gateway_domains.zone_id")
    .selectAll("gateway_domains")
    .select("zones.status as zone_status");

/** The domain of any account: a name belongs to one gateway. */
export const gatewayDomain = (db: Kysely<Tables>, hostname: string): Promise<GatewayDomainWithZone | undefined> =>
  withZone(db).where("gateway_domains.hostname", "=", hostname).executeTakeFirst();

/** By name. */
export const domainsOfGateway = (db: Kysely<Tables>, accountId: string, gatewayId: string): Promise<GatewayDomainWithZone[]> =>
  withZone(db)
    .where("gateway_domains.account_id", "=", accountId)
    .where("gateway_domains.gateway_id", "=", gatewayId)
    .orderBy("gateway_domains.hostname")
    .execute();

export const allGatewayDomains = (db: Kysely<Tables>): Promise<GatewayDomainRow[]> =>
  db.selectFrom("gateway_domains").selectAll().orderBy("hostname").execute();

export async function insertGatewayDomain(db: Kysely<Tables>, row: GatewayDomainRow): Promise<void> {
  await db.insertInto("gateway_domains").values(row).execute();
}

/** Deletes the domains of one zone, of one gateway or of one name; returns the deleted names. */
export async function deleteGatewayDomains(
  db: Kysely<Tables>,
  which: Readonly<Partial<Pick<GatewayDomainRow, "hostname" | "zone_id" | "account_id" | "gateway_id">>>,
): Promise<string[]> {
  const rows = await db
    .selectFrom("gateway_domains")
    .select("hostname")
    .where((eb) => eb.and(which))
    .execute();
  const conditions = Object.entries(which).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  await deleteInChunks(db, { table: "gateway_domains", key: ["hostname"], where: sql.join(conditions, sql` AND `) });
  return rows.map(({ hostname }) => hostname);
}

/** Active zones with one of these names that the account relies on (rule of snapshot/reliance.ts). */
export const reliedZones = (
  db: Kysely<Tables>,
  names: readonly string[],
  accountId: string,
): Promise<{ readonly id: string; readonly name: string; readonly account_id: string; readonly status: string }[]> =>
  db
    .selectFrom("zones")
    .select(["id", "name", "account_id", "status"])
    .where("name", "in", names)
    .where("status", "=", "active")
    .where((eb) => eb.or([eb("account_id", "=", accountId), eb("proof", "!=", "none")]))
    .execute();
