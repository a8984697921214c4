import type { RuleSurroundings } from "#rules/check.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import type { ListKind } from "#rules/expression/values/lists.ts";
import { ownPatterns } from "#control/detection/own-patterns.ts";
import { ruleListsOf } from "#store/rulesets/rule-lists.ts";
import { rulesetsOf } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";

/** What the rules of a ruleset may name beside themselves. */
export async function surroundingsOf(db: Unit["db"], scope: RulesetScope, kind: string): Promise<RuleSurroundings> {
  const rulesets = await rulesetsOf(db, { level: "account", owner_id: scope.account_id });
  const lists = new Map((await ruleListsOf(db, scope.account_id)).map(({ name, kind }) => [name, kind as ListKind]));
  return {
    kind: kind as RuleSurroundings["kind"],
    customRulesets: new Map(rulesets.filter((row) => row.kind === "custom").map(({ id, name, phase }) => [id, { name, phase }])),
    patterns: await ownPatterns(db, scope),
    // What a rule is checked against need not be asked.
    lists: {
      find: (name) => {
        const listKind = lists.get(name);
        return listKind && { kind: listKind, has: () => false };
      },
    },
  };
}
