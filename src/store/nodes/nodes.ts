import type { Insertable, Kysely, Selectable, Updateable } from "kysely";
import type { NodesTable } from "#store/tables/nodes.ts";
import type { Tables } from "#store/queries/tables.ts";

export type NodeRow = Selectable<NodesTable>;

export const findNode = (db: Kysely<Tables>, name: string): Promise<NodeRow | undefined> =>
  db.selectFrom("nodes").selectAll().where("name", "=", name).executeTakeFirst();

export const findNodeByToken = (db: Kysely<Tables>, hash: string): Promise<NodeRow | undefined> =>
  db.selectFrom("nodes").selectAll().where("token_hash", "=", hash).executeTakeFirst();

export const allNodes = (db: Kysely<Tables>): Promise<NodeRow[]> => db.selectFrom("nodes").selectAll().orderBy("name").execute();

export async function insertNode(db: Kysely<Tables>, row: Insertable<NodesTable>): Promise<void> {
  await db.insertInto("nodes").values(row).execute();
}

export async function updateNode(db: Kysely<Tables>, name: string, change: Updateable<NodesTable>): Promise<void> {
  // few: the name is the key
  await db.updateTable("nodes").set(change).where("name", "=", name).execute();
}

/** Its key stays among the revoked ones for ever: credentials of the bus are revoked by naming them. */
export async function deleteNode(db: Kysely<Tables>, { name, public_key }: NodeRow, revoked_on: string): Promise<void> {
  if (public_key !== null) await revokeNodeKey(db, { name, public_key, revoked_on });
  // few: the name is the key
  await db.deleteFrom("nodes").where("name", "=", name).execute();
  // few: one of each source
  await db.deleteFrom("node_event_places").where("node", "=", name).execute();
}

export async function revokeNodeKey(
  db: Kysely<Tables>,
  row: { readonly name: string; readonly public_key: string; readonly revoked_on: string },
): Promise<void> {
  await db
    .insertInto("revoked_node_keys")
    .values(row)
    .onConflict((conflict) => conflict.column("public_key").doNothing())
    .execute();
}

export const revokedNodeKeys = async (db: Kysely<Tables>): Promise<string[]> =>
  (await db.selectFrom("revoked_node_keys").select("public_key").orderBy("public_key").execute()).map(({ public_key }) => public_key);
