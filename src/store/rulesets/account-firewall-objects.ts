import type { Insertable, Kysely, Selectable } from "kysely";
import type { AccountFirewallObjectsTable } from "#store/tables/rulesets.ts";
import type { Tables } from "#store/queries/tables.ts";

export type AccountFirewallObjectRow = Selectable<AccountFirewallObjectsTable>;

/** All objects of one account, oldest first. */
export const accountFirewallObjectsOf = (db: Kysely<Tables>, accountId: string): Promise<AccountFirewallObjectRow[]> =>
  db.selectFrom("account_firewall_objects").selectAll().where("account_id", "=", accountId).orderBy("created_on").orderBy("id").execute();

/** Objects of every account, oldest first. */
export const allAccountFirewallObjects = (db: Kysely<Tables>): Promise<AccountFirewallObjectRow[]> =>
  db.selectFrom("account_firewall_objects").selectAll().orderBy("created_on").orderBy("id").execute();

/** Inserts or replaces the object with its kind and id. */
export async function putAccountFirewallObject(db: Kysely<Tables>, row: Insertable<AccountFirewallObjectsTable>): Promise<void> {
  await db
    .insertInto("account_firewall_objects")
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(["account_id", "kind", "id"]).doUpdateSet({ value: row.value, modified_on: row.modified_on }),
    )
    .execute();
}

export async function deleteAccountFirewallObject(db: Kysely<Tables>, accountId: string, kind: string, id: string): Promise<void> {
  await db
    .deleteFrom("account_firewall_objects")
    .where("account_id", "=", accountId)
    .where("kind", "=", kind)
    .where("id", "=", id)
    .execute();
}
