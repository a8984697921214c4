import type { ZoneType } from "#model/zones/zone.ts";
import { primaryCopy, withPrimaryCopy } from "#model/dns/transferred-apex.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { isSerialAfter } from "#wire/dns/serial.ts";
import type { OpenZone } from "#control/open-zone/change-zone.ts";

/** A new secondary zone is not answered before its first transfer. */
export const newZoneSettings = (type: ZoneType, settings: string): string =>
  type === "secondary" ? withPrimaryCopy(settings, { expired: true, apex: null }) : settings;

/**
 * The zone after a change of its type, and the changed columns. A zone that is no longer secondary keeps its records, and
 * continues with a serial after its primary's (RFC 1982). A zone that becomes secondary serves its records until the
 * first transfer.
 */
export function changeZoneType(
  zone: OpenZone,
  type: ZoneType | undefined,
): { readonly zone: OpenZone; readonly columns: Partial<ZoneRow> } {
  if (type === undefined || type === zone.row.type) return { zone, columns: {} };
  const settings = withPrimaryCopy(zone.row.settings, undefined);
  const answered = primaryCopy(zone.row)?.apex?.serial;
  if (answered === undefined || isSerialAfter(zone.serial, answered)) return { zone, columns: { type, settings } };
  const serial = (answered + 1) >>> 0 || 1;
  return { zone: { ...zone, serial }, columns: { type, settings, serial } };
}
