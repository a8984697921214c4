import { createHash } from "node:crypto";
import { PREVIOUS_SLOT_NAMES, PREVIOUS_SLOTS, type LegacyPhase } from "#rules/previous-waf/slots.ts";
import type { RulesetEntry } from "#snapshot/entries.ts";
import type { RulesetRow } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { slotEntries } from "./entries.ts";
import { loadFirewall } from "./state.ts";

/** A zone's slots as rows of rulesets, before and after its entry points, for traces of requests through all rules. */
export async function slotRows(
  db: Unit["db"],
  zoneId: string | null,
): Promise<{ readonly before: readonly RulesetRow[]; readonly after: readonly RulesetRow[] }> {
  const zone = zoneId === null ? undefined : await zoneRowById(db, zoneId);
  if (zone === undefined) return { before: [], after: [] };
  const entries = slotEntries(zone, await loadFirewall(db, zone.id));
  const running = (runs: "before" | "after"): RulesetRow[] =>
    PREVIOUS_SLOT_NAMES.filter((slot) => PREVIOUS_SLOTS[slot].runs === runs).flatMap((slot) => rowOf(slot, entries[slot]) ?? []);
  return { before: running("before"), after: running("after") };
}

function rowOf(slot: LegacyPhase, entry: RulesetEntry | null): RulesetRow | null {
  if (entry === null) return null;
  const rules = JSON.stringify(entry.rules);
  return {
    id: PREVIOUS_SLOTS[slot].ruleset_id,
    level: "zone",
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
