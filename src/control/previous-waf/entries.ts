import { chosenIn } from "#control/open-zone/setting-views.ts";
import { PREVIOUS_SLOT_NAMES, PREVIOUS_SLOTS, type LegacyPhase } from "#rules/previous-waf/slots.ts";
import type { Op, RuleEntry, RulesetEntry } from "#snapshot/entries.ts";
import { allFirewallObjects } from "#store/rulesets/firewall-objects.ts";
import type { Unit } from "#store/database/store.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { compileFirewallRules } from "./compile-firewall-rules.ts";
import { compilePreviousWaf } from "./compile-previous-waf.ts";
import { compileRateLimits } from "./compile-rate-limits.ts";
import { firewallOf, loadFirewall, type PreviousFirewall } from "./state.ts";

/** The columns that determine whether the previous WAF runs. */
export type FirewallZone = Pick<ZoneRow, "id" | "account_id" | "edge_settings" | "waf_migration">;

/** The setting `waf`, while the zone still has the previous WAF. */
export const isPreviousWafOn = (zone: FirewallZone): boolean => zone.waf_migration !== "pending" && chosenIn(zone).waf?.value === "on";

const COMPILE: Readonly<Record<LegacyPhase, (firewall: PreviousFirewall, zone: FirewallZone) => readonly RuleEntry[]>> = {
  firewall_rules: compileFirewallRules,
  rate_limits: compileRateLimits,
  previous_waf: (firewall, zone) => (zone.waf_migration === "pending" ? [] : compilePreviousWaf(firewall, isPreviousWafOn(zone))),
};

/** The planes' entries of a zone's previous firewall, by slot; null if empty. */
export function slotEntries(zone: FirewallZone, firewall: PreviousFirewall): Readonly<Record<LegacyPhase, RulesetEntry | null>> {
  const entry = (slot: LegacyPhase): RulesetEntry | null => {
    const rules = COMPILE[slot](firewall, zone);
    if (rules.length === 0) return null;
    const { phase, service } = PREVIOUS_SLOTS[slot];
    return { level: "zone", owner_id: zone.id, account_id: zone.account_id, kind: "zone", phase, slot, name: service, version: "1", rules };
  };
  return { firewall_rules: entry("firewall_rules"), rate_limits: entry("rate_limits"), previous_waf: entry("previous_waf") };
}

/** The changes between two states of a zone's firewall entries. */
export function slotOps(
  zone: FirewallZone,
  before: Readonly<Record<LegacyPhase, RulesetEntry | null>>,
  after: Readonly<Record<LegacyPhase, RulesetEntry | null>>,
): readonly Op[] {
  return PREVIOUS_SLOT_NAMES.flatMap((slot): Op[] =>
    JSON.stringify(before[slot]) === JSON.stringify(after[slot]) ? [] : [{ kind: "ruleset", id: `${zone.id}/${slot}`, value: after[slot] }],
  );
}

const NOTHING = { firewall_rules: null, rate_limits: null, previous_waf: null } as const;

/** The changes that remove all of a zone's slots from the planes. */
export async function removedSlotOps(db: Unit["db"], zone: FirewallZone): Promise<readonly Op[]> {
  return slotOps(zone, slotEntries(zone, await loadFirewall(db, zone.id)), NOTHING);
}

/** Entries of every zone. */
export async function allSlotOps(db: Unit["db"], zones: readonly FirewallZone[]): Promise<readonly Op[]> {
  const rows = Map.groupBy(await allFirewallObjects(db), ({ zone_id }) => zone_id);
  return zones
    .filter((zone) => rows.has(zone.id) || isPreviousWafOn(zone))
    .flatMap((zone) => slotOps(zone, NOTHING, slotEntries(zone, firewallOf(rows.get(zone.id) ?? []))));
}
