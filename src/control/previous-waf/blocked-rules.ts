import { PlatformError } from "#kernel/errors/errors.ts";
import { isPreviousWafOn } from "#control/previous-waf/entries.ts";
import { planOf } from "#model/zones/plan.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";

/** The phase of the new WAF (SPEC 2.6). */
export const NEW_WAF_PHASE = "http_request_firewall_managed";

export const hasEnabledRules = (row: Pick<RulesetRow, "rules">): boolean =>
  (JSON.parse(row.rules) as readonly { readonly enabled: boolean }[]).some(({ enabled }) => enabled);

/**
 * Throws `waf_managed_rules_held_back` for enabled rules of the new WAF in a zone below Enterprise that still has the
 * previous one: such a zone gets all of them by migrating (contract.md §7).
 */
export async function checkBlockedRules(
  unit: Unit,
  zoneId: string | null,
  phase: string,
  rules: readonly { readonly enabled: boolean }[],
): Promise<void> {
  if (zoneId === null || phase !== NEW_WAF_PHASE) return;
  const enabled = rules.findIndex((rule) => rule.enabled);
  if (enabled < 0) return;
  const zone = await zoneRowById(unit.db, zoneId);
  if (zone === undefined || planOf(zone.plan).name === "enterprise" || zone.waf_migration !== "start") return;
  if (!isPreviousWafOn(zone)) return;
  throw new PlatformError("waf_managed_rules_held_back", { source: `/rules/${enabled}/enabled` });
}
