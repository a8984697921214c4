import type { RuleContext } from "#rules/parameters/rule-context.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import type { ListKind } from "#rules/expression/values/lists.ts";
import { ownPatterns } from "#control/detection/own-patterns.ts";
import { ruleListsOf } from "#store/rulesets/rule-lists.ts";
import { rulesetsOf } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";

export interface RulesetContext extends RuleContext {
  /** Changes with everything that the check of a rule depends on. */
  readonly fingerprint: string;
}

/** The objects that the rules of a ruleset may refer to. */
export async function ruleContextOf(db: Unit["db"], scope: RulesetScope, kind: string): Promise<RulesetContext> {
  const rulesets = await rulesetsOf(db, { level: "account", owner_id: scope.account_id });
  const lists = new Map((await ruleListsOf(db, scope.account_id)).map(({ name, kind }) => [name, kind as ListKind]));
  const customs = new Map(rulesets.filter((row) => row.kind === "custom").map(({ id, name, phase }) => [id, { name, phase }]));
  const patterns = await ownPatterns(db, scope);
  return {
    kind: kind as RuleContext["kind"],
    customRulesets: customs,
    patterns,
    fingerprint: JSON.stringify([[...lists], [...customs], patterns]),
    // Checking a rule needs the kinds of lists, but not their items.
    lists: {
      find: (name) => {
        const listKind = lists.get(name);
        return listKind && { kind: listKind, has: () => false };
      },
    },
  };
}
