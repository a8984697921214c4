import { type Insertable, type Kysely, type Selectable, type Updateable, sql } from "kysely";
import { removeListItems } from "#store/database/removals.ts";
import { deleteOwned } from "#store/queries/in-chunks.ts";
import type { AccountsTable } from "#store/tables/access.ts";
import type { Tables } from "#store/queries/tables.ts";

export type AccountRow = Selectable<AccountsTable>;

export const findAccount = (db: Kysely<Tables>, id: string): Promise<AccountRow | undefined> =>
  db.selectFrom("accounts").selectAll().where("id", "=", id).executeTakeFirst();

/** The same, but locks the row until the transaction ends, so that it cannot change between reading and writing. */
export const lockAccount = (db: Kysely<Tables>, id: string): Promise<AccountRow | undefined> =>
  db
    .updateTable("accounts")
    .set((eb) => ({ dns_settings: eb.ref("dns_settings") }))
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();

export interface AccountFilter {
  /** Only these accounts; null: all. */
  readonly ids: readonly string[] | null;
  readonly name: string | undefined;
  readonly direction: "asc" | "desc";
}

export async function listAccounts(
  db: Kysely<Tables>,
  filter: AccountFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: AccountRow[]; total: number }> {
  if (filter.ids?.length === 0) return { rows: [], total: 0 };
  let matching = db.selectFrom("accounts");
  if (filter.ids) matching = matching.where("id", "in", filter.ids);
  if (filter.name !== undefined) matching = matching.where("name", "=", filter.name);
  const counted = await matching.select((eb) => eb.fn.countAll().as("total")).executeTakeFirstOrThrow();
  const rows = await matching
    .selectAll()
    .orderBy("created_on", filter.direction)
    .orderBy("id", filter.direction)
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return { rows, total: Number(counted.total) };
}

/** The account that the first start created, or undefined on an empty database. */
export const oldestAccount = (db: Kysely<Tables>): Promise<AccountRow | undefined> =>
  db.selectFrom("accounts").selectAll().orderBy("created_on").orderBy("id").limit(1).executeTakeFirst();

/** Whether more than one account exists. */
export const hasSeveralAccounts = async (db: Kysely<Tables>): Promise<boolean> =>
  (await db.selectFrom("accounts").select("id").limit(2).execute()).length > 1;

export async function insertAccount(db: Kysely<Tables>, row: Insertable<AccountsTable>): Promise<void> {
  await db.insertInto("accounts").values(row).execute();
}

export async function updateAccount(db: Kysely<Tables>, id: string, change: Updateable<AccountsTable>): Promise<void> {
  await db.updateTable("accounts").set(change).where("id", "=", id).execute();
}

/** Items of its lists go over time. */
export async function deleteAccount(db: Kysely<Tables>, id: string, nowMicros: number): Promise<void> {
  const lists = await db.selectFrom("rule_lists").select("id").where("account_id", "=", id).execute();
  for (const list of lists) await removeListItems(db, list.id, nowMicros);
  await deleteOwned(db, "accounts", sql`id = ${id}`);
  await db.deleteFrom("accounts").where("id", "=", id).execute();
}

/** Counts the objects that belong to the account and would lose their owner. */
export async function countOwned(
  db: Kysely<Tables>,
  accountId: string,
): Promise<{ readonly zones: number; readonly gateways: number; readonly rulesets: number }> {
  const zones = await db
    .selectFrom("zones")
    .select((eb) => eb.fn.countAll().as("n"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  const gateways = await db
    .selectFrom("gateways")
    .select((eb) => eb.fn.countAll().as("n"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  const rulesets = await db
    .selectFrom("rulesets")
    .select((eb) => eb.fn.countAll().as("n"))
    .where("level", "=", "account")
    .where("owner_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return { zones: Number(zones.n), gateways: Number(gateways.n), rulesets: Number(rulesets.n) };
}
