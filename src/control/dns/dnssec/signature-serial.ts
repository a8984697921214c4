import { serialEntry } from "#snapshot/compile/zone-entry.ts";
import type { Unit } from "#store/database/store.ts";
import { type ZoneTransferRow, zoneTransfer } from "#store/dns/transfers.ts";
import type { ZoneDnssecRow } from "#store/dns/zone-dnssec.ts";
import { touchZone } from "#store/zones/zones.ts";

/** Half of the week for which fetched signatures are valid at least. */
const REFETCH_MS = 3.5 * 86_400_000;

/** Whether secondaries may have had the same signatures for too long. */
export function isRefetchDue(row: ZoneDnssecRow, now: number): boolean {
  const since = Date.parse(row.refetch_on);
  // A time in the future was set by a clock that was ahead.
  return now >= since + REFETCH_MS || now < since;
}

/**
 * Raises the zone's serial although its records are unchanged, so that secondaries fetch new signatures before the old
 * ones expire, and new addresses of a flattened apex. False if no server may transfer the zone.
 */
export async function raiseServedSerial(unit: Unit, zoneId: string): Promise<boolean> {
  const outgoing = await zoneTransfer(unit.db, zoneId, "outgoing");
  const touched = outgoing && isTransferEnabled(outgoing) ? await touchZone(unit, zoneId) : undefined;
  if (touched) unit.change({ kind: "serial", id: zoneId, value: serialEntry(touched) });
  return touched !== undefined;
}

/** Whether the transfer configuration is enabled. */
export const isTransferEnabled = ({ settings }: Pick<ZoneTransferRow, "settings">): boolean =>
  (JSON.parse(settings) as { readonly enabled?: boolean }).enabled === true;
