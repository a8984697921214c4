import { chosenIn } from "#control/open-zone/setting-views.ts";
import { PREVIOUS_SLOT_NAMES, PREVIOUS_SLOTS, type LegacyPhase } from "#rules/previous-waf/slots.ts";
import type { Op, RuleEntry, RulesetEntry } from "#snapshot/entries.ts";
import { allAccountFirewallObjects } from "#store/rulesets/account-firewall-objects.ts";
import { allFirewallObjects } from "#store/rulesets/firewall-objects.ts";
import type { Unit } from "#store/database/store.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { compileFirewallRules } from "./compile-firewall-rules.ts";
import { compilePreviousWaf } from "./compile-previous-waf.ts";
import { compileRateLimits } from "./compile-rate-limits.ts";
import { compileAccessRules, compileLockdowns, compilePagePolicies, compileUaRules, type StoredAccessRule } from "./compile-tools.ts";
import { withNormalPatterns } from "./normal-patterns.ts";
import { firewallOf, loadFirewall, type PreviousFirewall } from "./state.ts";

/** The columns that determine whether the previous WAF runs. */
export type FirewallZone = Pick<ZoneRow, "id" | "account_id" | "edge_settings" | "waf_migration">;

/** The setting `waf`, while the zone still has the previous WAF. */
export const isPreviousWafOn = (zone: FirewallZone): boolean => zone.waf_migration !== "pending" && chosenIn(zone).waf?.value === "on";

/** Whether browsers report what the zone's pages load. */
export const isPageShieldOn = (zone: FirewallZone): boolean => chosenIn(zone).page_shield?.value.enabled === true;

const COMPILE: Readonly<Record<LegacyPhase, (firewall: PreviousFirewall, zone: FirewallZone) => readonly RuleEntry[]>> = {
  access_rules: ({ access_rules }) => compileAccessRules(access_rules),
  zone_lockdown: ({ lockdowns }) => compileLockdowns(lockdowns),
  ua_rules: ({ ua_rules }) => compileUaRules(ua_rules),
  page_shield: ({ page_policies }, zone) => compilePagePolicies(page_policies, isPageShieldOn(zone)),
  firewall_rules: compileFirewallRules,
  rate_limits: compileRateLimits,
  previous_waf: (firewall, zone) => (zone.waf_migration === "pending" ? [] : compilePreviousWaf(firewall, isPreviousWafOn(zone))),
};

/** The planes' entries of a zone's previous firewall, by slot; null if empty. */
export function slotEntries(zone: FirewallZone, stored: PreviousFirewall): Readonly<Record<LegacyPhase, RulesetEntry | null>> {
  const firewall = withNormalPatterns(stored, zone);
  const entry = (slot: LegacyPhase): RulesetEntry | null => {
    const rules = COMPILE[slot](firewall, zone);
    if (rules.length === 0) return null;
    const { phase, service } = PREVIOUS_SLOTS[slot];
    return { level: "zone", owner_id: zone.id, account_id: zone.account_id, kind: "zone", phase, slot, name: service, version: "1", rules };
  };
  return {
    access_rules: entry("access_rules"),
    firewall_rules: entry("firewall_rules"),
    rate_limits: entry("rate_limits"),
    zone_lockdown: entry("zone_lockdown"),
    ua_rules: entry("ua_rules"),
    page_shield: entry("page_shield"),
    previous_waf: entry("previous_waf"),
  };
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

const NOTHING = {
  access_rules: null,
  firewall_rules: null,
  rate_limits: null,
  zone_lockdown: null,
  ua_rules: null,
  page_shield: null,
  previous_waf: null,
} as const;

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

/** The planes' entry of an account's access rules, which run in all its zones. */
export function accountSlotOp(accountId: string, rows: readonly { readonly id: string; readonly value: string }[]): Op {
  const rules = compileAccessRules(rows.map(({ id, value }) => ({ id, ...(JSON.parse(value) as object) }) as StoredAccessRule));
  const { phase, service } = PREVIOUS_SLOTS.access_rules;
  const place = { level: "account", owner_id: accountId, account_id: accountId, kind: "root", phase, slot: "access_rules" } as const;
  const value: RulesetEntry | null = rules.length === 0 ? null : { ...place, name: service, version: "1", rules };
  return { kind: "ruleset", id: `${accountId}/access_rules`, value };
}

/** Entries of every account. */
export async function allAccountSlotOps(db: Unit["db"]): Promise<readonly Op[]> {
  const rows = Map.groupBy(await allAccountFirewallObjects(db), ({ account_id }) => account_id);
  return Array.from(rows, ([accountId, objects]) => accountSlotOp(accountId, objects));
}
