import { listAt } from "#kernel/lists.ts";
import type { StoredRule } from "#control/rulesets/rules.ts";
import { PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import { filtersNamingLists } from "#store/rulesets/firewall-objects.ts";
import { rulesetsNamingLists } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";

/** A rule that refers to a list. */
export interface Reference {
  readonly ruleset_id: string;
  readonly rule_id: string;
  readonly phase: string;
}

/**
 * Rules of the account and its zones, and filters of firewall rules, that refer to lists, by the list's name; a rule
 * occurs once per list.
 */
export async function listReferences(db: Unit["db"], accountId: string): Promise<ReadonlyMap<string, readonly Reference[]>> {
  const references = new Map<string, Reference[]>();
  for (const row of await rulesetsNamingLists(db, accountId)) {
    for (const rule of JSON.parse(row.rules) as StoredRule[]) {
      for (const name of listsOf(rule)) {
        listAt(references, name).push({ ruleset_id: row.id, rule_id: rule.id, phase: row.phase });
      }
    }
  }
  for (const { id, value } of await filtersNamingLists(db, accountId)) {
    for (const name of namesIn(value)) {
      const { ruleset_id, phase } = PREVIOUS_SLOTS.firewall_rules;
      listAt(references, name).push({ ruleset_id, rule_id: id, phase });
    }
  }
  return references;
}

/** Any text in the form of a list reference counts: keeping a list too long is better than breaking a rule. */
function listsOf(rule: StoredRule): ReadonlySet<string> {
  const names = new Set(namesIn(JSON.stringify(rule)));
  const fromList = rule.action_parameters["from_list"] as { readonly name?: string } | undefined;
  if (fromList?.name !== undefined) names.add(fromList.name);
  return names;
}

const namesIn = (text: string): readonly string[] => [...text.matchAll(/\$([a-z0-9_]{1,50})(?![a-z0-9_])/g)].map((match) => match[1] ?? "");
