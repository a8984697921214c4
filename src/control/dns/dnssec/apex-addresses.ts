import { auditActor, commit } from "#control/commit.ts";
import type { Call } from "#control/call.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { raiseServedSerial } from "./signature-serial.ts";

/** Tracks addresses of flattened apexes, which are not in the zone's records. */
export interface ApexAddresses {
  /**
   * Raises the serial of a zone that other servers transfer, so that they fetch the apex's new addresses; returns whether
   * it did. Each thread of the nameserver reports them: equal addresses count once.
   */
  changed(call: Call, zoneId: string, addresses: string): Promise<boolean>;
}

/** Zones whose last addresses are remembered. */
const ZONES_MAX = 10_000;

export function createApexAddresses({ store }: { readonly store: Store }): ApexAddresses {
  const told = new Map<string, string>();
  return {
    changed: async (call, zoneId, addresses) => {
      if (told.get(zoneId) === addresses) return false;
      if (told.size >= ZONES_MAX) told.clear();
      told.set(zoneId, addresses);
      return commit({ store }, call, (unit) => refetchZone(unit, call, zoneId));
    },
  };
}

/** Raises the serial of a zone that other servers transfer, although its records are unchanged; returns whether it did. */
export async function refetchZone(unit: Unit, call: Call, zoneId: string): Promise<boolean> {
  const zone = await zoneRowById(unit.db, zoneId);
  if (!zone || !(await raiseServedSerial(unit, zoneId))) return false;
  unit.audit({
    action: "zone.refetch",
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zoneId,
    resource: { type: "zone", id: zoneId },
  });
  return true;
}
