import { serialEntry } from "#snapshot/compile.ts";
import type { Unit } from "#store/database/store.ts";
import { type ZoneTransferRow, zoneTransfer } from "#store/dns/transfers.ts";
import type { ZoneDnssecRow } from "#store/dns/zone-dnssec.ts";
import { touchZone } from "#store/zones/zones.ts";

/** Half of the week for which signatures hold at the least when a server fetches them. */
const REFETCH_MS = 3.5 * 86_400_000;

/** Whether servers that fetch the zone may have had the same signatures for too long. */
export function isRefetchDue(row: ZoneDnssecRow, now: number): boolean {
  const since = Date.parse(row.refetch_on);
  // A time that is yet to come is from a clock that has been set back.
  return now >= since + REFETCH_MS || now < since;
}

/**
 * Raises the zone's serial though nothing in it has changed: servers that fetch it would go on with their first
 * signatures until these have run out, and with addresses that are another name's. False where nobody may fetch it.
 */
export async function raiseServedSerial(unit: Unit, zoneId: string): Promise<boolean> {
  const outgoing = await zoneTransfer(unit.db, zoneId, "outgoing");
  const touched = outgoing && isTransferEnabled(outgoing) ? await touchZone(unit, zoneId) : undefined;
  if (touched) unit.change({ kind: "serial", id: zoneId, value: serialEntry(touched) });
  return touched !== undefined;
}

/** Whether servers may fetch the zone, or this one fetches it. */
export const isTransferEnabled = ({ settings }: Pick<ZoneTransferRow, "settings">): boolean =>
  (JSON.parse(settings) as { readonly enabled?: boolean }).enabled === true;
