import type { Insertable, Kysely, Selectable } from "kysely";
import { sql } from "kysely";
import { deleteOwned } from "#store/queries/in-chunks.ts";
import { type ListPart, partOf, type RowKey } from "#store/queries/list-pages.ts";
import { textTest } from "#store/queries/like.ts";
import type { GatewaysTable } from "#store/tables/gateways.ts";
import type { Tables } from "#store/queries/tables.ts";

export type GatewayRow = Selectable<GatewaysTable>;

const one = (accountId: string, id: string) => ({ account_id: accountId, id });

export const gatewayById = (db: Kysely<Tables>, accountId: string, id: string): Promise<GatewayRow | undefined> =>
  db
    .selectFrom("gateways")
    .selectAll()
    .where((eb) => eb.and(one(accountId, id)))
    .executeTakeFirst();

export const allGateways = (db: Kysely<Tables>): Promise<GatewayRow[]> =>
  db.selectFrom("gateways").selectAll().orderBy("account_id").orderBy("id").execute();

export const anyGateway = async (db: Kysely<Tables>): Promise<boolean> =>
  (await db.selectFrom("gateways").select("id").limit(1).executeTakeFirst()) !== undefined;

export const gatewaysOf = (db: Kysely<Tables>, accountId: string): Promise<GatewayRow[]> =>
  db.selectFrom("gateways").selectAll().where("account_id", "=", accountId).orderBy("id").execute();

export async function insertGateway(db: Kysely<Tables>, row: Insertable<GatewaysTable>): Promise<void> {
  await db.insertInto("gateways").values(row).execute();
}

export async function updateGateway(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  values: { readonly settings: string; readonly modified_at: string },
): Promise<void> {
  // few: its key is account and id
  await db
    .updateTable("gateways")
    .set(values)
    .where((eb) => eb.and(one(accountId, id)))
    .execute();
}

export async function deleteGateway(db: Kysely<Tables>, accountId: string, id: string): Promise<void> {
  await deleteOwned(db, "gateways", sql`account_id = ${accountId} AND id = ${id}`);
  // few: its key is account and id
  await db
    .deleteFrom("gateways")
    .where((eb) => eb.and(one(accountId, id)))
    .execute();
}

/** Newest first; `search` is a part of the id. */
export const listGateways = (db: Kysely<Tables>, accountId: string, search: string, part: ListPart): Promise<GatewayRow[]> =>
  partOf(found(db, accountId, search).selectAll(), ["created_at", "id"], "desc", part).execute();

export async function countGateways(db: Kysely<Tables>, accountId: string, search: string): Promise<number> {
  const { total } = await found(db, accountId, search)
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
}

export const gatewayListKey = ({ created_at, id }: GatewayRow): RowKey => [created_at, id];

function found(db: Kysely<Tables>, accountId: string, search: string) {
  const own = db.selectFrom("gateways").where("account_id", "=", accountId);
  return search === "" ? own : own.where(textTest(sql`lower(id)`, "contains", search.toLowerCase()));
}
