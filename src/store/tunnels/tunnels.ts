import type { Kysely, Selectable, Updateable } from "kysely";
import type { Tables } from "#store/queries/tables.ts";
import type { TunnelsTable } from "#store/tables/nodes.ts";

export type TunnelRow = Selectable<TunnelsTable>;
/** Without the configuration, which may be long. */
export type ListedTunnelRow = Omit<TunnelRow, "config" | "secret">;

const LISTED = [
  ...(["id", "account_id", "name", "config_src", "config_version", "config_at", "ended"] as const),
  ...(["created_at", "deleted_at", "conns_active_at", "conns_inactive_at"] as const),
] as const;

/** Newest first, deleted ones included. */
export const tunnelsOfAccount = (db: Kysely<Tables>, accountId: string): Promise<ListedTunnelRow[]> =>
  db.selectFrom("tunnels").select(LISTED).where("account_id", "=", accountId).orderBy("created_at", "desc").orderBy("id").execute();

/** Those that are not deleted, of all accounts. */
export const livingTunnels = (db: Kysely<Tables>): Promise<TunnelRow[]> =>
  db.selectFrom("tunnels").selectAll().where("deleted_at", "is", null).orderBy("id").execute();

export const tunnelRow = (db: Kysely<Tables>, accountId: string, id: string): Promise<TunnelRow | undefined> =>
  db.selectFrom("tunnels").selectAll().where("id", "=", id).where("account_id", "=", accountId).executeTakeFirst();

export async function insertTunnel(db: Kysely<Tables>, row: TunnelRow): Promise<void> {
  await db.insertInto("tunnels").values(row).execute();
}

export async function updateTunnel(db: Kysely<Tables>, id: string, change: Updateable<TunnelsTable>): Promise<void> {
  await db.updateTable("tunnels").set(change).where("id", "=", id).execute();
}

export async function forgetTunnel(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("tunnels").where("id", "=", id).execute();
}
