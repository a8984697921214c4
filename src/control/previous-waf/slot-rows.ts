import { createHash } from "node:crypto";
import { PREVIOUS_SLOT_NAMES, PREVIOUS_SLOTS, type LegacyPhase } from "#rules/previous-waf/slots.ts";
import type { RulesetEntry } from "#snapshot/entries.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { accountFirewallObjectsOf } from "#store/rulesets/account-firewall-objects.ts";
import { accountSlotOp, slotEntries } from "./entries.ts";
import { loadFirewall } from "./state.ts";

/** Rows by their position in the phase. */
type SlotRows = Readonly<Record<(typeof PREVIOUS_SLOTS)[LegacyPhase]["runs"], readonly RulesetRow[]>>;

/** The slots of a zone and its account as rows of rulesets, for traces of requests through all rules. */
export async function slotRows(db: Unit["db"], accountId: string, zoneId: string | null): Promise<SlotRows> {
  const zone = zoneId === null ? undefined : await zoneRowById(db, zoneId);
  const { value } = accountSlotOp(accountId, await accountFirewallObjectsOf(db, accountId));
  const ofAccount = rowOf("access_rules", value as RulesetEntry | null);
  const first = ofAccount === null ? [] : [ofAccount];
  if (zone === undefined) return { first, before: [], after: [], last: [] };
  const entries = slotEntries(zone, await loadFirewall(db, zone.id));
  const running = (runs: keyof SlotRows): RulesetRow[] =>
    PREVIOUS_SLOT_NAMES.filter((slot) => PREVIOUS_SLOTS[slot].runs === runs).flatMap((slot) => rowOf(slot, entries[slot]) ?? []);
  return { first: [...first, ...running("first")], before: running("before"), after: running("after"), last: running("last") };
}

function rowOf(slot: LegacyPhase, entry: RulesetEntry | null): RulesetRow | null {
  if (entry === null) return null;
  const rules = JSON.stringify(entry.rules);
  return {
    id: PREVIOUS_SLOTS[slot].ruleset_id,
    level: entry.level,
    owner_id: entry.owner_id,
    name: entry.name,
    description: "",
    kind: "zone",
    phase: entry.phase,
    // Slots have no versions, so a hash of the content distinguishes their states.
    version: createHash("sha256").update(entry.owner_id).update(rules).digest().readUIntBE(0, 6),
    rules,
    last_updated: "",
  };
}
