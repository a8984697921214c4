import { type Kysely, type Selectable, sql } from "kysely";
import { removeListItems } from "#store/database/removals.ts";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import { escapeLike } from "#store/queries/like.ts";
import type { RuleListItemsTable, RuleListOperationsTable, RuleListsTable } from "#store/tables/rulesets.ts";
import type { Tables } from "#store/queries/tables.ts";

export type RuleListRow = Selectable<RuleListsTable>;
export type RuleListItemRow = Selectable<RuleListItemsTable>;
export type RuleListOperationRow = Selectable<RuleListOperationsTable>;

export const ruleListsOf = (db: Kysely<Tables>, accountId: string): Promise<RuleListRow[]> =>
  db.selectFrom("rule_lists").selectAll().where("account_id", "=", accountId).orderBy("name").execute();

export const allRuleLists = (db: Kysely<Tables>): Promise<RuleListRow[]> => db.selectFrom("rule_lists").selectAll().orderBy("id").execute();

export const ruleListById = (db: Kysely<Tables>, accountId: string, id: string): Promise<RuleListRow | undefined> =>
  db.selectFrom("rule_lists").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

export async function insertRuleList(db: Kysely<Tables>, row: RuleListRow): Promise<void> {
  await db.insertInto("rule_lists").values(row).execute();
}

export async function updateRuleList(db: Kysely<Tables>, id: string, values: Partial<RuleListRow>): Promise<void> {
  await db.updateTable("rule_lists").set(values).where("id", "=", id).execute();
}

/** Its items go over time, some rows a unit. */
export async function deleteRuleList(db: Kysely<Tables>, id: string, nowMicros: number): Promise<void> {
  await removeListItems(db, id, nowMicros);
  await db.deleteFrom("rule_lists").where("id", "=", id).execute();
}

/** Deletes some items of a deleted list; returns whether there may be more. */
export async function deleteSomeItems(db: Kysely<Tables>, listId: string, limit: number): Promise<boolean> {
  const ids = (await db.selectFrom("rule_list_items").select("id").where("list_id", "=", listId).limit(limit).execute()).map(
    ({ id }) => id,
  );
  await deleteItems(db, listId, ids);
  return ids.length === limit;
}

/** By id, starting after `after`; `search` is a part of the item or its comment. */
export function itemsAfter(
  db: Kysely<Tables>,
  listId: string,
  page: { readonly after: string; readonly limit: number; readonly search?: string },
): Promise<RuleListItemRow[]> {
  const query = db.selectFrom("rule_list_items").selectAll().where("list_id", "=", listId).where("id", ">", page.after);
  const pattern = `%${escapeLike(page.search?.toLowerCase() ?? "")}%`;
  const found =
    page.search === undefined
      ? query
      : query.where((where) =>
          where.or([sql<boolean>`lower(item_key) LIKE ${pattern} ESCAPE '\\'`, sql<boolean>`lower(comment) LIKE ${pattern} ESCAPE '\\'`]),
        );
  return found.orderBy("id").limit(page.limit).execute();
}

export const itemById = (db: Kysely<Tables>, listId: string, id: string): Promise<RuleListItemRow | undefined> =>
  db.selectFrom("rule_list_items").selectAll().where("list_id", "=", listId).where("id", "=", id).executeTakeFirst();

/** The fields of existing items that a change of items needs. */
export type ExistingItem = Pick<RuleListItemRow, "id" | "item_key" | "value" | "comment" | "bucket">;

const existingItems = (db: Kysely<Tables>, listId: string) =>
  db.selectFrom("rule_list_items").select(["id", "item_key", "value", "comment", "bucket"]).where("list_id", "=", listId);

/** All items of a list, read in several statements. */
export async function itemKeysOf(db: Kysely<Tables>, listId: string): Promise<ExistingItem[]> {
  const found: ExistingItem[] = [];
  for (let after = ""; ;) {
    const rows = await existingItems(db, listId).where("id", ">", after).orderBy("id").limit(READ_AT_ONCE).execute();
    for (const row of rows) found.push(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_AT_ONCE) return found;
    after = last.id;
  }
}

/** Items with one of the values, regardless of the size of the list. */
export async function itemsWith(
  db: Kysely<Tables>,
  listId: string,
  column: "id" | "item_key",
  values: readonly string[],
): Promise<ExistingItem[]> {
  const found: ExistingItem[] = [];
  for (let at = 0; at < values.length; at += ROWS_AT_ONCE)
    for (const row of await existingItems(db, listId)
      .where(column, "in", values.slice(at, at + ROWS_AT_ONCE))
      .execute())
      found.push(row);
  return found;
}

/** Values of the items whose bucket is in the range. */
export const itemValues = async (db: Kysely<Tables>, listId: string, from: number, to: number): Promise<string[]> =>
  (
    await db
      .selectFrom("rule_list_items")
      .select("value")
      .where("list_id", "=", listId)
      .where("bucket", ">=", from)
      .where("bucket", "<", to)
      .orderBy("id")
      .execute()
  ).map(({ value }) => value);

/** Rows per statement, which runs without a pause. */
const ROWS_AT_ONCE = 100;
const READ_AT_ONCE = 1_000;

export async function insertItems(db: Kysely<Tables>, rows: readonly RuleListItemRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    await db
      .insertInto("rule_list_items")
      .values(rows.slice(at, at + ROWS_AT_ONCE))
      .execute();
}

export async function updateItem(db: Kysely<Tables>, listId: string, id: string, values: Partial<RuleListItemRow>): Promise<void> {
  await db.updateTable("rule_list_items").set(values).where("list_id", "=", listId).where("id", "=", id).execute();
}

export async function deleteItems(db: Kysely<Tables>, listId: string, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE)
    await db
      .deleteFrom("rule_list_items")
      .where("list_id", "=", listId)
      .where("id", "in", ids.slice(at, at + ROWS_AT_ONCE))
      .execute();
}

export async function insertOperation(db: Kysely<Tables>, row: RuleListOperationRow): Promise<void> {
  await db.insertInto("rule_list_operations").values(row).execute();
}

export async function endOperation(db: Kysely<Tables>, id: string, values: Partial<RuleListOperationRow>): Promise<void> {
  await db.updateTable("rule_list_operations").set(values).where("id", "=", id).execute();
}

export const operationById = (db: Kysely<Tables>, accountId: string, id: string): Promise<RuleListOperationRow | undefined> =>
  db.selectFrom("rule_list_operations").selectAll().where("account_id", "=", accountId).where("id", "=", id).executeTakeFirst();

/** Deletes operations that began before the time. */
export async function deleteOperationsBefore(db: Kysely<Tables>, accountId: string, before: string): Promise<void> {
  await deleteInChunks(db, {
    table: "rule_list_operations",
    key: ["id"],
    where: sql`account_id = ${accountId} AND created_on < ${before}`,
  });
}
