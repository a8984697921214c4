import { type Insertable, type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { FirewallObjectsTable } from "#store/tables/rulesets.ts";
import type { Tables } from "#store/queries/tables.ts";

export type FirewallObjectRow = Selectable<FirewallObjectsTable>;

/** All objects of one zone, oldest first. */
export const firewallObjectsOf = (db: Kysely<Tables>, zoneId: string): Promise<FirewallObjectRow[]> =>
  db.selectFrom("firewall_objects").selectAll().where("zone_id", "=", zoneId).orderBy("created_on").orderBy("id").execute();

/** Objects of every zone, oldest first. */
export const allFirewallObjects = (db: Kysely<Tables>): Promise<FirewallObjectRow[]> =>
  db.selectFrom("firewall_objects").selectAll().orderBy("created_on").orderBy("id").execute();

/** Filters of the account's zones that may refer to a list. */
export const filtersNamingLists = (db: Kysely<Tables>, accountId: string): Promise<Pick<FirewallObjectRow, "id" | "value">[]> =>
  db
    .selectFrom("firewall_objects")
    .innerJoin("zones", "zones.id", "firewall_objects.zone_id")
    .select(["firewall_objects.id as id", "firewall_objects.value as value"])
    .where("zones.account_id", "=", accountId)
    .where("firewall_objects.kind", "=", "filter")
    .where("firewall_objects.value", "like", "%$%")
    .orderBy("firewall_objects.id")
    .execute();

/** Inserts or replaces the object with its kind and id. */
export async function putFirewallObject(db: Kysely<Tables>, row: Insertable<FirewallObjectsTable>): Promise<void> {
  await db
    .insertInto("firewall_objects")
    .values(row)
    .onConflict((conflict) => conflict.columns(["zone_id", "kind", "id"]).doUpdateSet({ value: row.value, modified_on: row.modified_on }))
    .execute();
}

export async function deleteFirewallObject(db: Kysely<Tables>, zoneId: string, kind: string, id: string): Promise<void> {
  await db.deleteFrom("firewall_objects").where("zone_id", "=", zoneId).where("kind", "=", kind).where("id", "=", id).execute();
}

export async function deleteFirewallObjectsOf(db: Kysely<Tables>, zoneId: string, kinds: readonly string[]): Promise<void> {
  if (kinds.length === 0) return;
  await deleteInChunks(db, {
    table: "firewall_objects",
    key: ["zone_id", "kind", "id"],
    where: sql`zone_id = ${zoneId} AND kind IN (${sql.join(kinds)})`,
  });
}
