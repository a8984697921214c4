import type { Dialect } from "#store/queries/session.ts";

/** Versions of rulesets, and accounts' lists for use in rules. */
export function rules({ text, integer, tableOptions }: Dialect): readonly string[] {
  const table = (name: string, columns: readonly string[]): string => `CREATE TABLE ${name} (${columns.join(", ")}) ${tableOptions}`;
  return [
    table("ruleset_versions", [
      `ruleset_id ${text} NOT NULL REFERENCES rulesets (id) ON DELETE CASCADE`,
      `version ${integer} NOT NULL`,
      `name ${text} NOT NULL`,
      `description ${text} NOT NULL`,
      `rules ${text} NOT NULL`,
      `last_updated ${text} NOT NULL`,
      "PRIMARY KEY (ruleset_id, version)",
    ]),
    // Existing rulesets begin with their current version.
    `INSERT INTO ruleset_versions (ruleset_id, version, name, description, rules, last_updated)
      SELECT id, version, name, description, rules, last_updated FROM rulesets`,
    table("rule_lists", [
      `id ${text} PRIMARY KEY`,
      `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
      `name ${text} NOT NULL`,
      `kind ${text} NOT NULL`,
      `description ${text} NOT NULL`,
      `num_items ${integer} NOT NULL`,
      `created_on ${text} NOT NULL`,
      `modified_on ${text} NOT NULL`,
      "UNIQUE (account_id, name)",
    ]),
    table("rule_list_items", [
      `list_id ${text} NOT NULL REFERENCES rule_lists (id) ON DELETE CASCADE`,
      `id ${text} NOT NULL`,
      `item_key ${text} NOT NULL`,
      `bucket ${integer} NOT NULL`,
      `value ${text} NOT NULL`,
      `comment ${text} NOT NULL`,
      `created_on ${text} NOT NULL`,
      `modified_on ${text} NOT NULL`,
      "PRIMARY KEY (list_id, id)",
      "UNIQUE (list_id, item_key)",
    ]),
    "CREATE INDEX rule_list_items_by_bucket ON rule_list_items (list_id, bucket)",
    table("rule_list_operations", [
      `id ${text} PRIMARY KEY`,
      `account_id ${text} NOT NULL REFERENCES accounts (id) ON DELETE CASCADE`,
      `list_id ${text} NOT NULL`,
      `status ${text} NOT NULL`,
      `error ${text}`,
      `created_on ${text} NOT NULL`,
      `completed ${text}`,
    ]),
    "CREATE INDEX rule_list_operations_by_account ON rule_list_operations (account_id, created_on)",
  ];
}
