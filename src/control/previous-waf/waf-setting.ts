import { isDeepStrictEqual } from "node:util";
import { PlatformError } from "#kernel/errors/errors.ts";
import { chosenIn } from "#control/open-zone/setting-views.ts";
import { urlNormalizationOf } from "#control/open-zone/url-paths.ts";
import { planOf } from "#model/zones/plan.ts";
import { hasEnabledRules, NEW_WAF_PHASE } from "./blocked-rules.ts";
import { entryPoint } from "#store/rulesets/rulesets.ts";
import type { Unit } from "#store/database/store.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { isPageShieldOn, slotEntries, slotOps } from "./entries.ts";
import { loadFirewall } from "./state.ts";

const wafOf = (zone: ZoneRow): string => chosenIn(zone).waf?.value ?? "off";

/**
 * Applies changes of the zone settings that slots of rules are compiled with: `waf`, `page_shield` and `url_normalization`. Throws `setting_unavailable` if the previous WAF cannot be
 * enabled: after the migration, and below Enterprise if rules of the new WAF exist.
 */
export async function changeSlotSettings(unit: Unit, before: ZoneRow, after: ZoneRow): Promise<void> {
  const wafChanges = wafOf(before) !== wafOf(after);
  const isSame =
    isPageShieldOn(before) === isPageShieldOn(after) && isDeepStrictEqual(urlNormalizationOf(before), urlNormalizationOf(after));
  if (!wafChanges && isSame) return;
  if (wafChanges && wafOf(after) === "on") await checkTurnedOn(unit, after);
  const firewall = await loadFirewall(unit.db, after.id);
  for (const op of slotOps(after, slotEntries(before, firewall), slotEntries(after, firewall))) unit.change(op);
}

async function checkTurnedOn(unit: Unit, zone: ZoneRow): Promise<void> {
  const refused = (message: string): PlatformError => new PlatformError("setting_unavailable", { message, source: "/value" });
  if (zone.waf_migration === "pending")
    throw refused("The zone has migrated to WAF Managed Rules, which have no common switch: deploy each managed ruleset separately.");
  if (planOf(zone.plan).name === "enterprise") return;
  const managed = await entryPoint(unit.db, { level: "zone", owner_id: zone.id }, NEW_WAF_PHASE);
  if (managed !== undefined && hasEnabledRules(managed))
    throw refused("The zone has rules of the new WAF, and zones below Enterprise can use only one WAF at a time; disable the rules first.");
}
