import { type ListKind, type NamedList, type NamedLists } from "#rules/expression/values/lists.ts";
import { listContent } from "#rules/lists/list-content.ts";
import type { Unit } from "#store/database/store.ts";
import { itemValues, ruleListsOf } from "#store/rulesets/rule-lists.ts";

const ITEMS_MAX = 65_536;

/** Reads the account's lists that the texts, which contain expressions, name. */
export async function namedLists(db: Unit["db"], accountId: string, texts: readonly string[]): Promise<NamedLists> {
  const named = new Set(texts.flatMap((text) => [...text.matchAll(/\$([a-z0-9_.]{1,100})/g)].map((match) => match[1])));
  const lists = new Map<string, NamedList>();
  for (const row of await ruleListsOf(db, accountId)) {
    if (!named.has(row.name)) continue;
    const values = await itemValues(db, row.id, 0, ITEMS_MAX);
    const items = values.map((value) => JSON.parse(value) as unknown);
    lists.set(row.name, listContent(row.kind as ListKind, items));
  }
  return { find: (name) => lists.get(name) };
}
