import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { serialEntry, zoneEntry } from "#snapshot/compile/zone-entry.ts";
import type { Unit } from "#store/database/store.ts";
import { touchZone, updateZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";

/** A locked zone with a raised serial, ready to be changed. */
export interface OpenZone {
  readonly row: ZoneRow;
  readonly serial: number;
}

/** Locks the zone, then reads it, so that two changes never start from the same state. Throws `zone_not_found`. */
export async function openZone(unit: Unit, id: string): Promise<OpenZone> {
  const touched = await touchZone(unit, id);
  const row = await zoneRowById(unit.db, id);
  if (!touched || !row) throw new PlatformError("zone_not_found");
  return { row, serial: touched.serial };
}

/** Stores the columns and publishes the zone; returns the new row. */
export async function writeZone(deps: { readonly clock: Clock }, unit: Unit, zone: OpenZone, columns: Partial<ZoneRow>): Promise<ZoneRow> {
  const values = { ...columns, modified_on: isoMicros(deps.clock.nowMicros()) };
  const row = { ...zone.row, ...values };
  await updateZone(unit.db, row.id, values);
  unit.change({ kind: "zone", id: row.id, value: zoneEntry(row) });
  unit.change({ kind: "serial", id: row.id, value: serialEntry({ ...row, serial: zone.serial }) });
  return row;
}
