import type { Actor } from "#control/call.ts";

/** The owner of the rulesets of a call: the account in its path, or the zone and its account. */
export interface RulesetScope {
  readonly level: "account" | "zone";
  readonly account_id: string;
  readonly zone_id: string | null;
  /** The zone's plan. */
  readonly plan: string | null;
  /** The caller, because each phase has its own permissions. */
  readonly actor: Actor;
}
