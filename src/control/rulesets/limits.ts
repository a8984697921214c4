import type { Kysely } from "kysely";
import { planOf } from "#model/zones/plan.ts";
import type { RulesetScope } from "./ruleset-scope.ts";
import { rulesBytesOf } from "#store/rulesets/rulesets.ts";
import type { Tables } from "#store/queries/tables.ts";
import { invalidRuleset } from "#control/rulesets/scope.ts";

/** Limits that the operator configures (`rules.*`). */
export interface RulesetLimits {
  /** Rules per ruleset, in general and for a zone on the free plan. */
  readonly rulesMax: number;
  readonly freeRulesMax: number;
  /** Custom rulesets of an account. */
  readonly customRulesetsMax: number;
  /** Stored versions of a ruleset, including the current one. */
  readonly versionsKept: number;
  /** Bytes of the rules of all rulesets of an account and its zones. */
  readonly accountBytesMax: number;
}

export const RULESET_LIMITS: RulesetLimits = {
  rulesMax: 1000,
  freeRulesMax: 1000,
  customRulesetsMax: 100,
  versionsKept: 50,
  accountBytesMax: 16_000_000,
};

/** Throws `ruleset_invalid` if a ruleset has more rules than its owner's plan allows. */
export function checkRuleCount(limits: RulesetLimits, scope: RulesetScope, count: number): void {
  const free = scope.plan !== null && planOf(scope.plan).name === "free";
  const most = free ? Math.min(limits.freeRulesMax, limits.rulesMax) : limits.rulesMax;
  if (count > most) throw invalidRuleset(`a ruleset${free ? " of a zone of the free plan" : ""} has at most ${most} rules`, "/rules");
}

/**
 * Throws `ruleset_invalid` if the rules of an account would be longer together than planes should hold in memory. A ruleset may always become
 * shorter.
 */
export async function checkRulesBytes(db: Kysely<Tables>, most: number, scope: RulesetScope, rules: string, before: string): Promise<void> {
  const added = Buffer.byteLength(rules) - Buffer.byteLength(before);
  if (added > 0 && (await rulesBytesOf(db, scope.account_id)) + added > most)
    throw invalidRuleset(`the rules of an account and its zones have at most ${most} bytes together`, "/rules");
}
