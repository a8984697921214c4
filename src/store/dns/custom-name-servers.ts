import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { CustomNameServersTable } from "#store/tables/zones.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CustomNameServerRow = Selectable<CustomNameServersTable>;

export const customNameServers = (db: Kysely<Tables>, accountId: string): Promise<CustomNameServerRow[]> =>
  db.selectFrom("custom_name_servers").selectAll().where("account_id", "=", accountId).orderBy("name").execute();

export const customNameServer = (db: Kysely<Tables>, accountId: string, name: string): Promise<CustomNameServerRow | undefined> =>
  db.selectFrom("custom_name_servers").selectAll().where("account_id", "=", accountId).where("name", "=", name).executeTakeFirst();

/** The names of one set, in the order in which zones list them. */
export async function namesOfSet(db: Kysely<Tables>, accountId: string, nsSet: number): Promise<string[]> {
  const rows = await db
    .selectFrom("custom_name_servers")
    .select("name")
    .where("account_id", "=", accountId)
    .where("ns_set", "=", nsSet)
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name);
}

export async function insertCustomNameServer(db: Kysely<Tables>, row: CustomNameServerRow): Promise<void> {
  await db.insertInto("custom_name_servers").values(row).execute();
}

export async function deleteCustomNameServer(db: Kysely<Tables>, accountId: string, name: string): Promise<void> {
  await db.deleteFrom("custom_name_servers").where("account_id", "=", accountId).where("name", "=", name).execute();
}

export async function deleteCustomNameServersOf(db: Kysely<Tables>, accountId: string): Promise<void> {
  await deleteInChunks(db, { table: "custom_name_servers", key: ["account_id", "name"], where: sql`account_id = ${accountId}` });
}

/** The account's zone closest to a name. `names`: the name and all its ancestors. */
export const closestZone = (
  db: Kysely<Tables>,
  accountId: string,
  names: readonly string[],
): Promise<{ id: string; name: string } | undefined> =>
  db
    .selectFrom("zones")
    .select(["id", "name"])
    .where("account_id", "=", accountId)
    .where("name", "in", names)
    // Each is a suffix of the others, so the longest is the closest.
    .orderBy((eb) => eb.fn<number>("length", ["name"]), "desc")
    .executeTakeFirst();

/** The name's addresses, without proxied records, whose addresses are the edge's. */
export const directAddressesOf = (db: Kysely<Tables>, zoneId: string, name: string): Promise<{ type: string; content: string }[]> =>
  db
    .selectFrom("dns_records")
    .select(["type", "content"])
    .where("zone_id", "=", zoneId)
    .where("name", "=", name)
    .where("type", "in", ["A", "AAAA"])
    .where("proxied", "=", 0)
    .orderBy("type")
    .orderBy("id")
    .execute();
