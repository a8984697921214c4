import { SERVICE_CERTIFICATE_ID, serviceCertificateEntry } from "#control/service-certificate.ts";
import { transferOps } from "#control/transfers/entries.ts";
import { readTokenFacts, tokenEntry } from "#control/access/token-facts.ts";
import {
  certificateEntry,
  dnssecEntry,
  gatewayEntry,
  gatewayEntryId,
  recordEntry,
  rulesetEntry,
  serialEntry,
  zoneEntry,
} from "#snapshot/compile.ts";
import type { Op } from "#snapshot/entries.ts";
import { allCertificates } from "#store/certificates.ts";
import { recordsAfter } from "#store/dns-records.ts";
import { allGateways } from "#store/gateways.ts";
import { allRulesets } from "#store/rulesets.ts";
import type { Store, Unit } from "#store/store.ts";
import { allTokens } from "#store/tokens.ts";
import { allDnssec, allDnssecKeys } from "#store/zone-dnssec.ts";
import { allZones } from "#store/zones.ts";

type Db = Unit["db"];

const RECORDS_AT_ONCE = 5000;

/** Every entry of the snapshot at one revision: what a plane gets that has nothing, or too old a copy. */
export const rebuildSnapshot = (store: Store): Promise<{ rev: number; ops: Op[] }> =>
  store.readAt(async (db, rev) => {
    const ops: Op[] = [];
    for (const row of await allZones(db)) {
      ops.push({ kind: "zone", id: row.id, value: zoneEntry(row) }, { kind: "serial", id: row.id, value: serialEntry(row) });
    }
    const keys = Map.groupBy(await allDnssecKeys(db), ({ zone_id }) => zone_id);
    for (const row of await allDnssec(db)) {
      const value = dnssecEntry(row, keys.get(row.zone_id) ?? []);
      if (value !== null) ops.push({ kind: "dnssec", id: row.zone_id, value });
    }
    await addRecords(db, ops);
    ops.push(...(await transferOps(db)));
    for (const row of await allRulesets(db)) ops.push({ kind: "ruleset", id: row.id, value: rulesetEntry(row) });
    for (const row of await allCertificates(db)) ops.push({ kind: "certificate", id: row.id, value: certificateEntry(row) });
    const service = await serviceCertificateEntry(db);
    if (service !== null) ops.push({ kind: "certificate", id: SERVICE_CERTIFICATE_ID, value: service });
    for (const row of await allGateways(db)) ops.push({ kind: "gateway", id: gatewayEntryId(row), value: gatewayEntry(row) });
    for (const row of await allTokens(db)) {
      const value = tokenEntry(await readTokenFacts(db, row));
      if (value !== null) ops.push({ kind: "token", id: row.id, value });
    }
    return { rev, ops };
  });

async function addRecords(db: Db, ops: Op[]): Promise<void> {
  for (let after = ""; ;) {
    const rows = await recordsAfter(db, after, RECORDS_AT_ONCE);
    for (const row of rows) ops.push({ kind: "record", id: row.id, value: recordEntry(row) });
    const last = rows.at(-1);
    if (last === undefined || rows.length < RECORDS_AT_ONCE) return;
    after = last.id;
  }
}
