import type { RuleSurroundings } from "#rules/check.ts";
import type { RulesetScope } from "#control/rulesets/scope.ts";
import { rulesetsOf } from "#store/rulesets.ts";
import type { Unit } from "#store/store.ts";

/** What the rules of a ruleset may name beside themselves. */
export async function surroundingsOf(db: Unit["db"], scope: RulesetScope, kind: string): Promise<RuleSurroundings> {
  const rulesets = await rulesetsOf(db, { level: "account", owner_id: scope.account_id });
  return {
    kind: kind as RuleSurroundings["kind"],
    customRulesets: new Map(rulesets.filter((row) => row.kind === "custom").map(({ id, name, phase }) => [id, { name, phase }])),
  };
}
