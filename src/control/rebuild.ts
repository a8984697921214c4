import { packOp } from "#control/certificates/pack-owner.ts";
import { packsInUse } from "#store/certificates/certificate-packs.ts";
import { setImmediate } from "node:timers/promises";
import { serviceCertificateEntry } from "#control/service-certificate.ts";
import { SERVICE_CERTIFICATE_ID } from "#snapshot/certificates.ts";
import { placementOf, proofOps } from "#control/certificates/placement.ts";
import { EDGE_ADDRESSES_ID, edgeAddressesEntry } from "#control/nodes/edge-addresses.ts";
import { VISITOR_KEYS_ID, visitorKeysEntry } from "#control/nodes/visitor-keys.ts";
import { CORE_RULES_ID, coreRulesEntry } from "#control/rulesets/core-rules.ts";
import { detectionEntry } from "#control/detection/entry.ts";
import { gatewayObjectOps } from "#control/gateways/object-entries.ts";
import { tunnelOps } from "#control/tunnels/tunnel-entries.ts";
import { listOps } from "#control/lists/list-entries.ts";
import { allAccountSlotOps, allSlotOps } from "#control/previous-waf/entries.ts";
import { transferOps } from "#control/transfers/entries.ts";
import { readTokenFacts, tokenEntry } from "#control/access/token-facts.ts";
import { certificateEntry, customCertificateEntry } from "#snapshot/compile/certificate-entry.ts";
import { customHostnameEntry } from "#snapshot/compile/custom-hostname-entry.ts";
import { dnssecEntry, serialEntry, zoneEntry } from "#snapshot/compile/zone-entry.ts";
import { gatewayEntry, gatewayEntryId } from "#snapshot/compile/gateway-entry.ts";
import { recordEntry, stagedEntry } from "#snapshot/compile/record-entry.ts";
import { rulesetEntry } from "#snapshot/compile/ruleset-entry.ts";
import type { Op, PurgeEntry } from "#snapshot/entries.ts";
import type { Position } from "#snapshot/feed.ts";
import { allPurges } from "#store/zones/cache-purges.ts";
import { placedOrders } from "#store/certificates/certificate-orders.ts";
import { allCertificates } from "#store/certificates/certificates.ts";
import { allCustomCertificates } from "#store/certificates/custom-certificates.ts";
import { allCustomHostnames, allHostnameCertificates, type CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";
import { type DnsImportRow, importOfRecord, importsUntouchedSince } from "#store/dns/dns-imports.ts";
import { versionPartOf, partsKeyOf } from "#store/dns/dns-versions.ts";
import { decodeWholeChanges } from "#control/dns/changes/version-changes.ts";
import { recordsAfter } from "#store/dns/dns-records.ts";
import { allFallbackOrigins } from "#store/hostnames/fallback-origins.ts";
import { allGateways } from "#store/gateways/gateways.ts";
import { allRuleLists } from "#store/rulesets/rule-lists.ts";
import { allRulesets } from "#store/rulesets/rulesets.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { allAccountSensitiveData, allSensitiveData, type SensitiveDataRow } from "#store/detection/sensitive-data.ts";
import { allTokens } from "#store/access/tokens.ts";
import { allDnssec, allDnssecKeys } from "#store/dns/zone-dnssec.ts";
import { allZones } from "#store/zones/zones.ts";

type Db = Unit["db"];

/** Records per page; other requests run in between. A page is read and written in one tick: some milliseconds. */
const RECORDS_AT_ONCE = 300;

/** Every entry of the snapshot at one revision, for a plane without a usable copy. */
export const rebuildSnapshot = (store: Store): Promise<Position & { ops: Op[] }> =>
  streamSnapshot(store, async (at, pages) => {
    const ops: Op[] = [];
    for await (const page of pages) for (const op of page) ops.push(op);
    return { ...at, ops };
  });

/** The same as pages, for callers that must not hold everything in memory. */
export const streamSnapshot = <T>(store: Store, use: (at: Position, pages: AsyncIterable<readonly Op[]>) => Promise<T>): Promise<T> =>
  store.readAt((db, rev, history) => use({ history, rev }, snapshotPages(db)));

async function* snapshotPages(db: Db): AsyncGenerator<readonly Op[]> {
  const zones = await allZones(db);
  yield zones.map((row) => ({ kind: "zone", id: row.id, value: zoneEntry(row) }));
  yield zones.map((row) => ({ kind: "serial", id: row.id, value: serialEntry(row) }));
  yield await dnssecOps(db);
  yield* recordPages(db, new Set(zones.map(({ id }) => id)));
  yield await transferOps(db);
  for (const row of await allRuleLists(db)) yield await listOps(db, row, null);
  const accounts = new Map(zones.map(({ id, account_id }) => [id, account_id]));
  yield (await allRulesets(db)).map((row) => ({
    kind: "ruleset",
    id: row.id,
    value: rulesetEntry(row, accounts.get(row.owner_id) ?? row.owner_id),
  }));
  yield await allSlotOps(db, zones);
  yield await allAccountSlotOps(db);
  yield (await allCertificates(db)).map((row) => ({ kind: "certificate", id: row.id, value: certificateEntry(row) }));
  yield (await packsInUse(db)).map(packOp);
  yield (await allHostnameCertificates(db)).map((row) => ({ kind: "certificate", id: row.id, value: certificateEntry(row) }));
  yield (await allCustomCertificates(db)).map((row) => ({ kind: "certificate", id: row.id, value: customCertificateEntry(row) }));
  yield hostnameOps(await allCustomHostnames(db));
  yield (await allFallbackOrigins(db)).map(({ zone_id, origin }) => ({ kind: "fallback_origin", id: zone_id, value: { origin } }));
  const service = await serviceCertificateEntry(db);
  if (service !== null) yield [{ kind: "certificate", id: SERVICE_CERTIFICATE_ID, value: service }];
  yield (await placedOrders(db)).flatMap((row) => {
    const placement = placementOf(row);
    return placement === null ? [] : proofOps(row.id, row.method, placement);
  });
  yield (await allPurges(db)).map((row) => ({ kind: "purge", id: row.zone_id, value: JSON.parse(row.value) as PurgeEntry }));
  yield detectionOps(Map.groupBy(await allSensitiveData(db), ({ zone_id }) => zone_id));
  yield detectionOps(Map.groupBy(await allAccountSensitiveData(db), ({ account_id }) => account_id));
  yield (await allGateways(db)).map((row) => ({ kind: "gateway", id: gatewayEntryId(row), value: gatewayEntry(row) }));
  yield await gatewayObjectOps(db);
  yield await tunnelOps(db);
  yield await tokenOps(db);
  const core = await coreRulesEntry(db);
  if (core !== null) yield [{ kind: "core_rules", id: CORE_RULES_ID, value: core }];
  const edge = await edgeAddressesEntry(db);
  if (edge !== null) yield [{ kind: "edge_addresses", id: EDGE_ADDRESSES_ID, value: edge }];
  const visitorKeys = await visitorKeysEntry(db);
  if (visitorKeys !== null) yield [{ kind: "visitor_keys", id: VISITOR_KEYS_ID, value: visitorKeys }];
}

const hostnameOps = (rows: readonly CustomHostnameRow[]): Op[] =>
  rows.map((row): Op => ({ kind: "custom_hostname", id: row.id, value: customHostnameEntry(row) })).filter(({ value }) => value !== null);

const detectionOps = (owned: ReadonlyMap<string, readonly SensitiveDataRow[]>): Op[] =>
  Array.from(owned, ([id, rows]): Op => ({ kind: "detection", id, value: detectionEntry(rows) })).filter(({ value }) => value !== null);

async function dnssecOps(db: Db): Promise<Op[]> {
  const keys = Map.groupBy(await allDnssecKeys(db), ({ zone_id }) => zone_id);
  const ops: Op[] = [];
  for (const row of await allDnssec(db)) {
    const value = dnssecEntry(row, keys.get(row.zone_id) ?? []);
    if (value !== null) ops.push({ kind: "dnssec", id: row.zone_id, value });
  }
  return ops;
}

async function tokenOps(db: Db): Promise<Op[]> {
  const ops: Op[] = [];
  for (const row of await allTokens(db)) {
    const value = tokenEntry(await readTokenFacts(db, row));
    if (value !== null) ops.push({ kind: "token", id: row.id, value });
  }
  return ops;
}

/** Records of a large change in progress are staged entries; the planes' current records are those from before the change. */
async function* stagedPages(db: Db, { id, zone_id }: DnsImportRow): AsyncGenerator<readonly Op[]> {
  for (let part = 0; ; part++) {
    const found = await versionPartOf(db, zone_id, partsKeyOf(id), part);
    if (found === undefined) return;
    const changes = decodeWholeChanges(found.changes, zone_id);
    const rows = changes.flatMap(({ after }) => (after === null ? [] : [after]));
    const removed = changes.flatMap(({ before, after }) => (after === null && before !== null ? [before.id] : []));
    yield [
      ...changes.map(({ before, after }): Op => ({ kind: "record", id: (before ?? after)!.id, value: before && recordEntry(before) })),
      { kind: "staged", id: `${id}/part-${part}`, value: stagedEntry(id, zone_id, rows, removed) },
    ];
    await setImmediate();
  }
}

async function* recordPages(db: Db, zones: ReadonlySet<string>): AsyncGenerator<readonly Op[]> {
  const underWay = await importsUntouchedSince(db);
  const imports = new Map(underWay.filter(({ kind }) => kind === "import").map(({ id, zone_id }) => [id, zone_id]));
  for (let after = ""; ;) {
    const rows = await recordsAfter(db, after, RECORDS_AT_ONCE);
    const pieces = Map.groupBy(rows, ({ id }) => (imports.has(importOfRecord(id)) ? importOfRecord(id) : null));
    // Records of deleted zones remain until they are removed over time.
    const standing = (pieces.get(null) ?? []).filter(({ zone_id }) => zones.has(zone_id));
    yield standing.map((row) => ({ kind: "record", id: row.id, value: recordEntry(row) }));
    for (const [id, zoneId] of imports) {
      const staged = pieces.get(id);
      // Deltas use other ids for their chunks.
      if (staged) yield [{ kind: "staged", id: `${id}/from-${staged[0]?.id}`, value: stagedEntry(id, zoneId, staged) }];
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < RECORDS_AT_ONCE) break;
    after = last.id;
    await setImmediate();
  }
  for (const row of underWay) if (row.kind !== "import") yield* stagedPages(db, row);
}
