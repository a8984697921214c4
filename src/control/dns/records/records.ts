import type { LongReads } from "#control/long-reads.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call, Page, PageRequest, Reader } from "#control/call.ts";
import type { RecordChanger } from "#control/dns/changes/change-records.ts";
import { createRecordLists } from "./record-lists.ts";
import type { RecordView } from "#control/dns/changes/record-view.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type {
  DnsRecord,
  DnsRecordBatch,
  DnsRecordBatchResult,
  DnsRecordQuery,
  DnsRecordUsage,
  DnsRecordWrite,
} from "#model/dns/dns-record.ts";
import type { DnsVersionKind } from "#model/dns/dns-version.ts";
import { planOf } from "#model/zones/plan.ts";
import { recordById } from "#store/dns/dns-records.ts";
import { zoneState } from "#store/dns/record-lists.ts";
import type { Store } from "#store/database/store.ts";

/** Records of a zone. Writes throw the first violation in the order of dns.md; each raises the zone's serial by one. */
export interface DnsRecords {
  create(call: Call, zone: PlannedZoneRef, body: DnsRecordWrite): Promise<DnsRecord>;
  list(zone: PlannedZoneRef, query: DnsRecordQuery, page: PageRequest, reader?: Reader): Promise<Page<DnsRecord>>;
  get(zone: PlannedZoneRef, id: string): Promise<DnsRecord>;
  /** The number of the zone's records, and the limit. */
  usage(zone: PlannedZoneRef): Promise<DnsRecordUsage>;
  /** Changes the fields in the body. */
  edit(call: Call, zone: PlannedZoneRef, id: string, body: DnsRecordWrite): Promise<DnsRecord>;
  /** Replaces the record; absent fields get their default. */
  overwrite(call: Call, zone: PlannedZoneRef, id: string, body: DnsRecordWrite): Promise<DnsRecord>;
  delete(call: Call, zone: PlannedZoneRef, id: string): Promise<{ id: string }>;
  /** All changes or none, as one version. Also throws `dns_batch_too_large`. */
  batch(call: Call, zone: PlannedZoneRef, body: DnsRecordBatch): Promise<DnsRecordBatchResult>;
}

export interface DnsRecordsDeps {
  readonly store: Store;
  readonly view: RecordView;
  readonly changer: RecordChanger;
  /** Limit of records per zone of the plan. */
  recordsPerZoneMax(plan: string): number;
  readonly longReads: LongReads;
}

export function createDnsRecords(deps: DnsRecordsDeps): DnsRecords {
  const { store, view, changer, longReads } = deps;
  const write = async (call: Call, zone: PlannedZoneRef, part: "patches" | "puts" | "posts", kind: DnsVersionKind, body: DnsRecordWrite) =>
    (await changer.change(call, zone, { [part]: [body] }, { kind }))[part][0] as DnsRecord;

  return {
    create: (call, zone, body) => write(call, zone, "posts", "create", body),
    edit: (call, zone, id, body) => write(call, zone, "patches", "edit", { ...body, id } as DnsRecordWrite),
    overwrite: (call, zone, id, body) => write(call, zone, "puts", "overwrite", { ...body, id } as DnsRecordWrite),

    delete: async (call, zone, id) => {
      await changer.change(call, zone, { deletes: [{ id }] }, { kind: "delete" });
      return { id };
    },

    batch: async (call, zone, body) => {
      const { deletes, patches, puts, posts } = body;
      const changes = { deletes: deletes ?? [], patches: patches ?? [], puts: puts ?? [], posts: posts ?? [] };
      checkSize(zone, changes);
      const done = await changer.change(call, zone, changes, { kind: "batch" });
      return { deletes: [...done.deletes], patches: [...done.patches], puts: [...done.puts], posts: [...done.posts] };
    },

    list: createRecordLists({ store, view, longReads }),

    get: async (zone, id) => {
      const row = await recordById(store.read, zone.id, id);
      if (row === undefined) throw new PlatformError("dns_record_not_found");
      return view(row);
    },

    usage: async (zone) => ({
      record_quota: deps.recordsPerZoneMax(zone.plan),
      record_usage: (await zoneState(store.read, zone.id))?.record_count ?? 0,
    }),
  };
}

function checkSize(zone: PlannedZoneRef, changes: Readonly<Record<string, readonly unknown[]>>): void {
  const count = Object.values(changes).reduce((sum, { length }) => sum + length, 0);
  const { batch_changes_max: most } = planOf(zone.plan);
  if (count > most)
    throw new PlatformError("dns_batch_too_large", { message: `A batch of ${count} changes exceeds the limit of ${most}.` });
}
