import type { StoredRule } from "#control/rulesets/rules.ts";
import { rulesetsNaming } from "#store/rulesets.ts";
import type { Unit } from "#store/store.ts";

/** A rule that names a list. */
export interface Reference {
  readonly ruleset_id: string;
  readonly rule_id: string;
  readonly phase: string;
}

/** The rules of the account and its zones that name the list. */
export async function referencesTo(db: Unit["db"], accountId: string, name: string): Promise<Reference[]> {
  const inExpression = new RegExp(`\\$${name}(?![a-z0-9_])`);
  const rows = await rulesetsNaming(db, accountId, name);
  return rows.flatMap((row) =>
    (JSON.parse(row.rules) as StoredRule[])
      .filter((rule) => inExpression.test(JSON.stringify(rule)) || fromList(rule) === name)
      .map((rule) => ({ ruleset_id: row.id, rule_id: rule.id, phase: row.phase })),
  );
}

const fromList = (rule: StoredRule): unknown => (rule.action_parameters["from_list"] as { readonly name?: string } | undefined)?.name;
