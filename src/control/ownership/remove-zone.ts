import { certificatePacksOfZone } from "#store/certificates/certificate-packs.ts";
import { removeDomains } from "#control/gateways/domains.ts";
import { removedSlotOps } from "#control/previous-waf/entries.ts";
import { forgetOrder } from "#control/certificates/orders.ts";
import { serialEntry } from "#snapshot/compile/zone-entry.ts";
import { purgesOfZone } from "#store/zones/cache-purges.ts";
import { certificatesOfZone, deleteCertificatesOfZone } from "#store/certificates/certificates.ts";
import { customCertificatesOfZone } from "#store/certificates/custom-certificates.ts";
import { importOfZone } from "#store/dns/dns-imports.ts";
import { removeZoneRows } from "#store/database/removals.ts";
import { fallbackOrigin } from "#store/hostnames/fallback-origins.ts";
import { formerZones, putFormerZone } from "#store/zones/former-zones.ts";
import { deleteRulesetsOf, type RulesetOwner, rulesetsOf } from "#store/rulesets/rulesets.ts";
import { zoneSensitiveData } from "#store/detection/sensitive-data.ts";
import type { Unit } from "#store/database/store.ts";
import { deleteZoneTransfersOf, zoneTransfersOf } from "#store/dns/transfers.ts";
import { deleteDnssecOfZone, dnssecOfZone } from "#store/dns/zone-dnssec.ts";
import { deleteZone, zoneRowById } from "#store/zones/zones.ts";
import { QUARANTINE_MS } from "#model/zones/zone-states.ts";
import { isSerialAfter, latestSerial } from "#wire/dns/serial.ts";

/**
 * Deletes the zone and everything in it, from the database and the planes. Its records, versions and custom hostnames, up
 * to a million, become invisible at once and are deleted over time (removals.ts).
 */
export async function removeZone(unit: Unit, id: string, nowMicros: number): Promise<void> {
  const owner: RulesetOwner = { level: "zone", owner_id: id };
  await rememberZone(unit, id, nowMicros);
  await removeZoneRows(unit.db, id, nowMicros);
  const underWay = await importOfZone(unit.db, id);
  if (underWay) unit.change({ kind: "release", id: underWay.id, value: null });
  await forgetOrder(unit, { owner_kind: "zone", owner_id: id });
  for (const pack of await certificatePacksOfZone(unit.db, id)) {
    await forgetOrder(unit, { owner_kind: "certificate_pack", owner_id: pack.id });
    unit.change({ kind: "certificate", id: pack.id, value: null });
  }
  for (const ruleset of await rulesetsOf(unit.db, owner)) unit.change({ kind: "ruleset", id: ruleset.id, value: null });
  const zone = await zoneRowById(unit.db, id);
  if (zone !== undefined) for (const op of await removedSlotOps(unit.db, zone)) unit.change(op);
  for (const certificate of await certificatesOfZone(unit.db, id)) unit.change({ kind: "certificate", id: certificate.id, value: null });
  for (const certificate of await customCertificatesOfZone(unit.db, id))
    unit.change({ kind: "certificate", id: certificate.id, value: null });
  if (await fallbackOrigin(unit.db, id)) unit.change({ kind: "fallback_origin", id, value: null });
  if (await dnssecOfZone(unit.db, id)) unit.change({ kind: "dnssec", id, value: null });
  if ((await zoneTransfersOf(unit.db, id)).length > 0) unit.change({ kind: "transfer", id, value: null });
  if (await purgesOfZone(unit.db, id)) unit.change({ kind: "purge", id, value: null });
  if ((await zoneSensitiveData.of(unit.db, id)).length > 0) unit.change({ kind: "detection", id, value: null });
  await removeDomains(unit, { zone_id: id });
  unit.change({ kind: "serial", id, value: null });
  unit.change({ kind: "zone", id, value: null });
  await deleteRulesetsOf(unit.db, owner);
  await deleteCertificatesOfZone(unit.db, id);
  await deleteDnssecOfZone(unit.db, id);
  await deleteZoneTransfersOf(unit.db, id);
  await deleteZone(unit.db, id);
}

/** Stores facts about an active zone for later zones of the name. */
async function rememberZone({ db }: Unit, id: string, nowMicros: number): Promise<void> {
  const zone = await zoneRowById(db, id);
  if (zone === undefined || zone.activated_on === null) return;
  const earlier = (await formerZones(db, zone.name)).map(({ serial }) => serial);
  const deleted_ms = Math.floor(nowMicros / 1000);
  const serial = latestSerial([...earlier, zone.serial, serialEntry(zone).serial]) ?? zone.serial;
  const row = {
    ...{ name: zone.name, account_id: zone.account_id, pair: zone.pair, serial, deleted_ms },
    proof: zone.status === "active" ? zone.proof : "none",
    ends_ms: Math.max(deleted_ms + QUARANTINE_MS, passedMs(serial, deleted_ms)),
  };
  await putFormerZone(db, row, deleted_ms - QUARANTINE_MS);
}

/** When a new zone's serial, the time in seconds, is later than this one. */
const passedMs = (serial: number, nowMs: number): number => {
  const now = Math.floor(nowMs / 1000);
  return isSerialAfter(serial, now) ? nowMs + (((serial - now) >>> 0) + 1) * 1000 : nowMs;
};
