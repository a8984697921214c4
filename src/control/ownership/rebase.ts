import type { Call } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import { openZone, writeZone } from "#control/open-zone/change-zone.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Unit } from "#store/database/store.ts";
import { serversOfOthers, usualPair } from "#store/zones/zone-claimants.ts";
import { updateZone, type ZoneRow } from "#store/zones/zones.ts";
import { choosePair, type Pair } from "./pairs.ts";
import type { ParentView } from "./parent-view.ts";

/**
 * When a zone's parent is seen for the first time, stores its current name servers, which prove nothing about the zone's
 * creator here. If they include the zone's pair, the zone gets another pair, or none.
 */
export async function rebase(
  deps: { readonly clock: Clock; readonly pool: readonly Pair[] },
  unit: Unit,
  call: Call,
  zone: ZoneRow,
  parent: ParentView | null,
): Promise<ZoneRow> {
  if (parent === null || zone.original_name_servers !== null || zone.status !== "pending") return zone;
  const pair = JSON.parse(zone.pair) as string[];
  const seen = { original_name_servers: JSON.stringify(parent.nameServers) };
  if (!pair.some((name) => parent.nameServers.includes(name))) {
    await updateZone(unit.db, zone.id, seen);
    return { ...zone, ...seen };
  }
  const taken = new Set([...(await serversOfOthers(unit.db, zone)), ...parent.nameServers]);
  const usual = await usualPair(unit.db, zone.account_id);
  const fresh = JSON.stringify(choosePair(deps.pool, zone.account_id, usual, taken) ?? []);
  const isShown = zone.name_servers === zone.pair && fresh !== "[]";
  const opened = await openZone(unit, zone.id);
  unit.audit({
    action: "zone.name_servers",
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zone.id,
    resource: { type: "zone", id: zone.id },
    before: { name: zone.name, pair },
    after: { name: zone.name, pair: JSON.parse(fresh) as string[] },
  });
  return writeZone(deps, unit, opened, { ...seen, pair: fresh, ...(isShown ? { name_servers: fresh } : {}) });
}
