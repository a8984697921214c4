import type { Actor } from "#control/call.ts";

/** Whose rulesets a call works on: the account of its path, or the zone and its account. */
export interface RulesetScope {
  readonly level: "account" | "zone";
  readonly account_id: string;
  readonly zone_id: string | null;
  /** Of the zone. */
  readonly plan: string | null;
  /** Who asks: each phase has its own permissions. */
  readonly actor: Actor;
}
