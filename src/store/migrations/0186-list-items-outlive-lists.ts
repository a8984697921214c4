import type { Dialect } from "#store/queries/session.ts";

/** Thousands of items of a deleted list may exist; they stay until they are removed over time (removals.ts). */
export const listItemsOutliveLists = ({ name }: Dialect): readonly string[] =>
  name === "sqlite" ? WITHOUT_LIST_REFERENCE : ["ALTER TABLE rule_list_items DROP CONSTRAINT rule_list_items_list_id_fkey"];

/** Only the table's definition changes (https://www.sqlite.org/lang_altertable.html §7). */
const WITHOUT_LIST_REFERENCE: readonly string[] = [
  "PRAGMA writable_schema = ON",
  `UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL REFERENCES rule_lists (id) ON DELETE CASCADE', 'NOT NULL'), 'NOT NULL REFERENCES "rule_lists" (id) ON DELETE CASCADE', 'NOT NULL')
     WHERE type = 'table' AND name = 'rule_list_items'`,
  "PRAGMA writable_schema = RESET",
];
