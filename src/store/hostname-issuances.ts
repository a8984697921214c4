import type { Kysely, Selectable } from "kysely";
import type { HostnameIssuancesTable, Tables } from "#store/tables.ts";

export type HostnameIssuancesRow = Selectable<HostnameIssuancesTable>;

export const hostnameIssuances = (db: Kysely<Tables>, accountId: string): Promise<HostnameIssuancesRow | undefined> =>
  db.selectFrom("hostname_issuances").selectAll().where("account_id", "=", accountId).executeTakeFirst();

export async function putHostnameIssuances(db: Kysely<Tables>, row: HostnameIssuancesRow): Promise<void> {
  const { account_id: _, ...values } = row;
  await db
    .insertInto("hostname_issuances")
    .values(row)
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(values))
    .execute();
}
