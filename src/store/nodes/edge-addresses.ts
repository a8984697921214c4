import type { Kysely, Selectable } from "kysely";
import type { EdgeAddressesTable } from "#store/tables/nodes.ts";
import type { Tables } from "#store/queries/tables.ts";

export type EdgeAddressesRow = Omit<Selectable<EdgeAddressesTable>, "id">;

/** Undefined if no node ever had addresses. */
export const edgeAddressesRow = (db: Kysely<Tables>): Promise<EdgeAddressesRow | undefined> =>
  db.selectFrom("edge_addresses").select(["addresses", "serials_after", "modified_on"]).where("id", "=", 1).executeTakeFirst();

export async function putEdgeAddresses(db: Kysely<Tables>, row: EdgeAddressesRow): Promise<void> {
  await db
    .insertInto("edge_addresses")
    .values({ id: 1, ...row })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
    .execute();
}
