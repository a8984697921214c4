import { newId } from "#kernel/crypto/ids.ts";
import { contentKey } from "#model/dns/dns-text.ts";
import { NS_TTL_SECONDS, type ZoneSettings } from "#model/dns/dns-settings.ts";
import { describedAs } from "#model/dns/kept-spelling.ts";
import { TTL_AUTOMATIC } from "#model/dns/prepared-record.ts";
import { SOA_DEFAULTS, type SoaChange, type SoaValues } from "#model/dns/soa.ts";
import { begin } from "#control/ownership/transitions.ts";
import { chosenSettings } from "#snapshot/chosen-settings.ts";
import { TTL_AUTOMATIC_SECONDS } from "#snapshot/compile/record-entry.ts";
import type { RecordEntry, ZoneEntry } from "#snapshot/entries.ts";
import { writeRecords } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import { insertZone, type ZoneRow } from "#store/zones/zones.ts";
import { each, type Recover, type RecoveryDeps, timeOf } from "./recovery.ts";

/** Zones with their settings. */
export const recoverZones: Recover = async (deps) => {
  const sizes = new Map<string, number>();
  for (const [, { zone_id }] of deps.snapshot.entries("record")) sizes.set(zone_id, (sizes.get(zone_id) ?? 0) + 1);
  await each("zone", async (unit, id, entry) => {
    const row = zoneRow(deps, entry, sizes.get(id) ?? 0);
    await insertZone(unit.db, row);
    await begin(unit, row, deps.clock.nowMs());
  })(deps);
};

function zoneRow(deps: RecoveryDeps, entry: ZoneEntry, records: number): ZoneRow {
  const now = timeOf(deps);
  // Only the installation's own names are a pair that a parent may prove the zone with.
  const isOurs = entry.name_servers.every((name) => deps.nameServers.includes(name));
  const { id, account_id, name, status, type, plan } = entry;
  return {
    ...{ id, account_id, name, status, type, plan },
    paused: entry.paused && !hasOwnAddresses(entry) ? 1 : 0,
    name_servers: JSON.stringify(entry.name_servers),
    pair: isOurs ? JSON.stringify(entry.name_servers) : "[]",
    vanity_name_servers: "[]",
    settings: JSON.stringify(settingsOf(deps, entry)),
    edge_settings: JSON.stringify(chosenSettings(entry.edge ?? {}, now)),
    waf_migration: "start",
    // A copy of a primary is answered with its serial, and counts its own versions.
    serial: isPrimaryCopy(entry) ? Math.floor(deps.clock.nowMs() / 1000) : serialOf(deps, id),
    record_count: records,
    dns_version_count: 0,
    proof: entry.proof ?? "operator",
    verification_key: status === "pending" ? newId() : "",
    original_name_servers: null,
    activated_on: status === "active" ? now : null,
    created_on: entry.created_on ?? now,
    modified_on: now,
  };
}

const serialOf = ({ snapshot }: RecoveryDeps, id: string): number => snapshot.get("serial", id)?.serial ?? 0;

/** An expired copy is fetched again. */
const isPrimaryCopy = ({ type, expired = false }: ZoneEntry): boolean => type === "secondary" && !expired;

/** Planes see such a zone as paused, whatever its owner chose. */
const hasOwnAddresses = ({ type, secondary_overrides }: ZoneEntry): boolean => type === "secondary" && secondary_overrides !== true;

/** Values that differ from the defaults were chosen. */
function settingsOf(deps: RecoveryDeps, entry: ZoneEntry): ZoneSettings {
  const { flatten_all_cnames, multi_provider, secondary_overrides, expired = false, soa, ns_ttl, name_servers } = entry;
  const chosen: ZoneSettings = {
    ...(flatten_all_cnames === true ? { flatten_all_cnames } : {}),
    ...(multi_provider === true ? { multi_provider } : {}),
    ...(secondary_overrides === true ? { secondary_overrides } : {}),
  };
  if (isPrimaryCopy(entry))
    return { ...chosen, primary: { expired, apex: { serial: serialOf(deps, entry.id), soa, name_servers, ns_ttl } } };
  const changed = soaChange(entry, soa);
  return {
    ...chosen,
    ...(ns_ttl === NS_TTL_SECONDS ? {} : { ns_ttl }),
    ...(Object.keys(changed).length === 0 ? {} : { soa: changed }),
    ...(expired ? { primary: { expired, apex: null } } : {}),
  };
}

function soaChange({ name, name_servers }: ZoneEntry, soa: SoaValues): SoaChange {
  const usual: SoaValues = { ...SOA_DEFAULTS, mname: name_servers[0] ?? name, rname: `hostmaster.${name}` };
  const fields = Object.keys(usual) as (keyof SoaValues)[];
  return Object.fromEntries(fields.filter((field) => soa[field] !== usual[field]).map((field) => [field, soa[field]]));
}

/** Records with their identifiers, some of one zone in each statement. */
export const recoverRecords: Recover = async (deps) => {
  const byZone = new Map<string, DnsRecordRow[]>();
  const write = async (zoneId: string): Promise<void> => {
    const rows = byZone.get(zoneId) ?? [];
    byZone.delete(zoneId);
    if (deps.snapshot.get("zone", zoneId) !== undefined)
      await deps.store.write(({ db }) =>
        writeRecords(
          db,
          zoneId,
          rows.map((after) => ({ before: null, after })),
        ),
      );
  };
  let held = 0;
  for (const [id, entry] of deps.snapshot.entries("record")) {
    const rows = byZone.get(entry.zone_id);
    const row = recordRow(deps, id, entry);
    if (rows === undefined) byZone.set(entry.zone_id, [row]);
    else rows.push(row);
    if (++held < RECORDS_HELD) continue;
    for (const zoneId of [...byZone.keys()]) await write(zoneId);
    held = 0;
  }
  for (const zoneId of [...byZone.keys()]) await write(zoneId);
};

const RECORDS_HELD = 1000;

function recordRow(deps: RecoveryDeps, id: string, entry: RecordEntry): DnsRecordRow {
  const { zone_id, name, type, content, rdata } = entry;
  const { data, priority } = describedAs(type, Buffer.from(rdata, "base64"), content);
  const now = timeOf(deps);
  return {
    ...{ id, zone_id, name, type, content, rdata, priority },
    content_key: contentKey(content),
    data: data === null ? null : JSON.stringify(data),
    // A TTL of 300 seconds nearly always came from "automatic".
    ttl: entry.ttl === TTL_AUTOMATIC_SECONDS ? TTL_AUTOMATIC : entry.ttl,
    proxied: entry.proxied ? 1 : 0,
    settings: JSON.stringify(entry.settings ?? {}),
    comment: null,
    tags: "[]",
    comment_modified_on: null,
    tags_modified_on: null,
    created_on: now,
    modified_on: now,
  };
}
