import type { RolloverStage } from "#model/dns/dnssec-life.ts";
import type { DnssecEntry } from "#snapshot/entries.ts";
import { insertDnssecKey, putDnssec } from "#store/dns/zone-dnssec.ts";
import { each, timeOf } from "./recovery.ts";

/** As long as a parent's DS set is assumed to be remembered. */
const DS_TTL_SECONDS = 86_400;

/**
 * Keys, and the state of a rollover. The parent's DS records are not in the copy: until the parent is checked they are
 * assumed to exist, so that turning DNSSEC off keeps the zone signed until the check.
 */
export const recoverDnssec = each("dnssec", async ({ db }, zone_id, entry, deps) => {
  const now = timeOf(deps);
  await putDnssec(db, {
    zone_id,
    status: entry.cds === "delete" ? "pending-disabled" : "active",
    status_since: now,
    rollover: stageOf(entry),
    rollover_since: now,
    ds_named: "[]",
    ds_others: "[]",
    ds_since: now,
    ds_ttl: DS_TTL_SECONDS,
    looked_on: "",
    look_failure: "",
    look_failures: 0,
    next_look_on: now,
    refetch_on: now,
    multi_signer: Array.isArray(entry.cds) && entry.cds.length === 0 ? 1 : 0,
    modified_on: now,
  });
  for (const [index, { id, public_key, private_key }] of entry.keys.entries())
    await insertDnssecKey(db, { id, zone_id, public_key, private_key, created_on: timeOf(deps, index) });
});

/** The stage in which the keys do this (`ROLLOVER` of model/dns/dnssec-life.ts). */
function stageOf({ keys, cds }: DnssecEntry): RolloverStage {
  const newest = keys.at(-1);
  if (keys.length < 2 || newest === undefined) return "none";
  if (newest.signs_zone) return "retire";
  return Array.isArray(cds) && cds.includes(newest.id) ? "submit" : "publish";
}
