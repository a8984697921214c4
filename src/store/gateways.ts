import type { Insertable, Kysely, Selectable } from "kysely";
import { sql } from "kysely";
import { textTest } from "#store/like.ts";
import type { GatewaysTable, Tables } from "#store/tables.ts";

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
  await db
    .updateTable("gateways")
    .set(values)
    .where((eb) => eb.and(one(accountId, id)))
    .execute();
}

export async function deleteGateway(db: Kysely<Tables>, accountId: string, id: string): Promise<void> {
  await db
    .deleteFrom("gateways")
    .where((eb) => eb.and(one(accountId, id)))
    .execute();
}

/** Newest first, as the field's lists are; `search` is a part of the id. */
export async function listGateways(
  db: Kysely<Tables>,
  accountId: string,
  search: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ items: GatewayRow[]; total: number }> {
  const found = db
    .selectFrom("gateways")
    .where("account_id", "=", accountId)
    .where(textTest(sql`lower(id)`, "contains", search.toLowerCase()));
  const items = await found.selectAll().orderBy("created_at", "desc").orderBy("id").limit(page.limit).offset(page.offset).execute();
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items, total: Number(total) };
}
