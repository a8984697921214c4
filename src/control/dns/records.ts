import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { newId } from "#kernel/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { recordFilter } from "#control/dns/list-filter.ts";
import { createRecordView, writeOf } from "#control/dns/record-view.ts";
import { checkSiblings } from "#model/dns-conflicts.ts";
import type { DnsRecord, DnsRecordQuery, DnsRecordWrite } from "#model/dns-record.ts";
import { type OriginPolicy, type PreparedRecord, prepareRecord } from "#model/prepared-record.ts";
import { recordEntry, serialEntry } from "#snapshot/compile.ts";
import { deleteRecord, type DnsRecordRow, insertRecord, listRecords, recordById, recordsNamed, updateRecord } from "#store/dns-records.ts";
import type { Store, Unit } from "#store/store.ts";
import { touchZone } from "#store/zones.ts";

/** The zone of a call, as the API resolved it. */
export interface ZoneRef {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
  readonly plan: string;
}

/** Writes throw the first violation in the order of dns.md; each raises the zone's serial by one. */
export interface DnsRecords {
  create(call: Call, zone: ZoneRef, body: DnsRecordWrite): Promise<DnsRecord>;
  list(zone: ZoneRef, query: DnsRecordQuery, page: PageRequest): Promise<Page<DnsRecord>>;
  get(zone: ZoneRef, id: string): Promise<DnsRecord>;
  /** Changes the fields that the body names. */
  edit(call: Call, zone: ZoneRef, id: string, body: DnsRecordWrite): Promise<DnsRecord>;
  /** Replaces the record; what the body leaves out takes its default. */
  overwrite(call: Call, zone: ZoneRef, id: string, body: DnsRecordWrite): Promise<DnsRecord>;
  delete(call: Call, zone: ZoneRef, id: string): Promise<{ id: string }>;
}

export interface DnsRecordsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly origins: OriginPolicy;
  readonly vendorPrefix: string;
  /** Records that one zone may have. */
  readonly recordsPerZoneMax: number;
}

export function createDnsRecords(deps: DnsRecordsDeps): DnsRecords {
  const { store, clock, origins } = deps;
  const view = createRecordView(deps);
  const version = (row: DnsRecordRow): Version => ({ row, shown: view(row) });

  const load = async (db: Unit["db"], zone: ZoneRef, id: string): Promise<DnsRecordRow> => {
    const row = await recordById(db, zone.id, id);
    if (row === undefined) throw new PlatformError("dns_record_not_found");
    return row;
  };

  const replace = (call: Call, zone: ZoneRef, id: string, merge: (before: DnsRecordRow) => DnsRecordWrite): Promise<DnsRecord> =>
    commit(deps, call, async (unit) => {
      const before = await load(unit.db, zone, id);
      const prepared = prepareRecord(merge(before), zone, origins);
      checkSiblings(
        prepared,
        (await recordsNamed(unit.db, zone.id, prepared.name)).filter((sibling) => sibling.id !== id),
        zone.name,
      );
      const now = isoMicros(clock.nowMicros());
      const row: DnsRecordRow = { ...before, ...prepared, ...noteTimes(prepared, before, now), modified_on: now };
      await updateRecord(unit.db, id, row);
      const after = version(row);
      await publish(unit, call, zone, { action: "dns_record.edit", id, before: version(before), after });
      return after.shown;
    });

  return {
    create: async (call, zone, body) => {
      const prepared = prepareRecord(body, zone, origins);
      return commit(deps, call, async (unit) => {
        checkSiblings(prepared, await recordsNamed(unit.db, zone.id, prepared.name), zone.name);
        const now = isoMicros(clock.nowMicros());
        const row: DnsRecordRow = {
          id: newId(),
          zone_id: zone.id,
          ...prepared,
          ...noteTimes(prepared, null, now),
          created_on: now,
          modified_on: now,
        };
        const after = version(row);
        const recordCount = await publish(unit, call, zone, { action: "dns_record.create", id: row.id, before: null, after });
        if (recordCount > deps.recordsPerZoneMax) throw new PlatformError("dns_quota");
        await insertRecord(unit.db, row);
        return after.shown;
      });
    },

    list: async (zone, query, { page, per_page }) => {
      const { items, total } = await listRecords(store.read, store.dialect, recordFilter(zone, query), {
        limit: per_page,
        offset: (page - 1) * per_page,
      });
      return { items: items.map(view), page, per_page, total_count: total };
    },

    get: async (zone, id) => view(await load(store.read, zone, id)),
    edit: (call, zone, id, body) => replace(call, zone, id, (before) => ({ ...writeOf(before, body), ...named(body) })),
    overwrite: (call, zone, id, body) => replace(call, zone, id, () => body),

    delete: (call, zone, id) =>
      commit(deps, call, async (unit) => {
        const before = await load(unit.db, zone, id);
        await deleteRecord(unit.db, id);
        await publish(unit, call, zone, { action: "dns_record.delete", id, before: version(before), after: null });
        return { id };
      }),
  };
}

/** A record as it is stored and as responses show it. */
interface Version {
  readonly row: DnsRecordRow;
  readonly shown: DnsRecord;
}

interface RecordChange {
  readonly action: string;
  readonly id: string;
  readonly before: Version | null;
  readonly after: Version | null;
}

/** Raises the serial, tells the planes, writes the audit row; gives the number of records that the zone has now. */
async function publish(unit: Unit, call: Call, zone: ZoneRef, change: RecordChange): Promise<number> {
  const { action, id, before, after } = change;
  const touched = await touchZone(unit.db, zone.id, (after ? 1 : 0) - (before ? 1 : 0));
  if (touched === undefined) throw new PlatformError("zone_not_found");
  unit.change({ kind: "record", id, value: after && recordEntry(after.row) });
  unit.change({ kind: "serial", id: zone.id, value: serialEntry(touched) });
  unit.audit({
    action,
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zone.id,
    resource: { type: "dns_record", id },
    before: before && before.shown,
    after: after && after.shown,
  });
  return touched.record_count;
}

/** The fields that a PATCH names; null stands for "none" where a record can be without. */
const named = (body: DnsRecordWrite): DnsRecordWrite => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));

/** Comment and tags have times of their own, once they were set. */
function noteTimes(
  after: PreparedRecord,
  before: DnsRecordRow | null,
  now: string,
): Pick<DnsRecordRow, "comment_modified_on" | "tags_modified_on"> {
  return {
    comment_modified_on: after.comment === (before?.comment ?? null) ? (before?.comment_modified_on ?? null) : now,
    tags_modified_on: after.tags === (before?.tags ?? "[]") ? (before?.tags_modified_on ?? null) : now,
  };
}
