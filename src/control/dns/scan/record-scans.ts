import { listAt } from "#kernel/lists.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { createStreamLimiter } from "#control/events/stream-limiter.ts";
import type { RecordChanger } from "#control/dns/changes/change-records.ts";
import { type RecordView, writeOf } from "#control/dns/changes/record-view.ts";
import { HOST_TYPES, SCAN_QUESTIONS, type ScanQuestion } from "./scan-questions.ts";
import type { QueryResolver } from "./scan-resolver.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsRecord, DnsRecordWrite } from "#model/dns/dns-record.ts";
import type { DnsScanResult, DnsScanReview, DnsScanReviewResult } from "#model/dns/dns-scan.ts";
import { type PreparedRecord, prepareRecord, type RecordPolicy } from "#model/dns/prepared-record.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import { deleteScanCandidate, replaceScanCandidates, scanCandidates } from "#store/dns/record-scans.ts";
import type { Store, Unit } from "#store/database/store.ts";

/** Finds the records that a zone has elsewhere, by querying a resolver for usual names (contract.md §3). */
export interface RecordScans {
  /** Scans, and stores the candidates for review. Throws `rate_limited` while too many scans run. */
  trigger(zone: PlannedZoneRef): Promise<void>;
  /** Candidates that the zone does not contain. */
  list(zone: PlannedZoneRef): Promise<readonly DnsRecord[]>;
  /** Adds accepted records to the zone, all or none; deletes rejected candidates. */
  review(call: Call, zone: PlannedZoneRef, body: DnsScanReview): Promise<DnsScanReviewResult>;
  /** Scans, and adds the records that fit without a review. */
  add(call: Call, zone: PlannedZoneRef): Promise<DnsScanResult>;
}

export interface RecordScansDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy: RecordPolicy;
  readonly view: RecordView;
  readonly changer: RecordChanger;
  readonly ask: QueryResolver;
}

/** Scans that run at once: a zone elsewhere may have name servers that never respond. */
const SCANS = { ofOne: 2, ofAll: 8 } as const;
const QUESTIONS_AT_ONCE = 32;
/** No query starts after this time; a resolver that responds needs a fraction of it. */
const SCAN_MS_MAX = 10_000;

export function createRecordScans(deps: RecordScansDeps): RecordScans {
  const { store, clock, policy, view, changer, ask } = deps;
  const places = createStreamLimiter({ ...SCANS, takers: "scans", what: "run" });

  const scan = async (zone: PlannedZoneRef): Promise<readonly PreparedRecord[]> => {
    const leave = places.take(zone.account_id);
    try {
      const until = clock.monotonicMs() + SCAN_MS_MAX;
      return unknownOf(await findRecords(zone, ask, () => clock.monotonicMs() < until), zone, policy);
    } finally {
      leave();
    }
  };

  const missing = async <T extends PreparedRecord>(db: Unit["db"], zone: PlannedZoneRef, found: readonly T[]): Promise<readonly T[]> => {
    const existing = await recordsNamed(db, zone.id, [...new Set(found.map(({ name }) => name))]);
    const known = new Set(existing.map(identity));
    return found.filter((record) => !known.has(identity(record)));
  };

  return {
    trigger: async (zone) => {
      const found = await scan(zone);
      const now = isoMicros(clock.nowMicros());
      const times = { comment_modified_on: null, tags_modified_on: null, created_on: now, modified_on: now };
      await store.write(async ({ db }) => {
        const rows = (await missing(db, zone, found)).map((record): DnsRecordRow => ({
          id: newId(),
          zone_id: zone.id,
          ...record,
          ...times,
        }));
        await replaceScanCandidates(db, zone.id, rows);
      });
    },

    list: async (zone) => (await missing(store.read, zone, await scanCandidates(store.read, zone.id))).map(view),

    review: (call, zone, { accepts = [], rejects = [] }) =>
      commit(deps, call, async (unit) => {
        const candidates = new Map((await scanCandidates(unit.db, zone.id)).map((row) => [row.id, row]));
        const posts = accepts.map(({ id, ...body }) => acceptedWrite(candidates.get(id ?? ""), body));
        const done = await changer.changeWithin(unit, call, zone, { posts }, { kind: "scan" });
        for (const { id } of accepts) if (id !== undefined) await deleteScanCandidate(unit.db, zone.id, id);
        const forgotten: string[] = [];
        for (const { id } of rejects) if (await deleteScanCandidate(unit.db, zone.id, id)) forgotten.push(id);
        return { accepts: [...done.posts], rejects: forgotten };
      }),

    add: async (call, zone) => {
      const found = await scan(zone);
      let added = 0;
      // One by one, so that a conflict of one record does not exclude the others.
      for (const record of await missing(store.read, zone, found)) {
        try {
          await changer.change(call, zone, { posts: [scannedWrite(record)] }, { kind: "scan" });
          added++;
        } catch (error) {
          if (!(error instanceof PlatformError) || error.status >= 500) throw error;
        }
      }
      return { recs_added: added, total_records_parsed: found.length };
    },
  };
}

const identity = ({ name, type, content_key, priority }: Pick<DnsRecordRow, "name" | "type" | "content_key" | "priority">): string =>
  JSON.stringify([name, type, content_key, priority]);

const named = (body: DnsRecordWrite): DnsRecordWrite => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));

/** The candidate with the reviewer's changes, or a new record. */
const acceptedWrite = (candidate: DnsRecordRow | undefined, body: DnsRecordWrite): DnsRecordWrite =>
  candidate === undefined ? body : { ...writeOf(candidate, body), ...named(body) };

const scannedWrite = ({ name, type, content, data, priority, ttl }: PreparedRecord): DnsRecordWrite => ({
  name,
  type,
  ttl,
  priority,
  ...(data === null ? { content } : { data: JSON.parse(data) as Record<string, unknown> }),
});

/** Distinct records that are valid in the zone. */
function unknownOf(found: readonly DnsRecordWrite[], zone: PlannedZoneRef, policy: RecordPolicy): readonly PreparedRecord[] {
  const records = new Map<string, PreparedRecord>();
  for (const write of found) {
    try {
      const record = prepareRecord(write, zone, policy);
      records.set(identity(record), record);
    } catch (error) {
      // Records elsewhere may violate the rules here.
      if (!(error instanceof PlatformError)) throw error;
    }
  }
  return [...records.values()];
}

/** Sends all queries. If a wildcard answers everything, names that repeat its records are omitted. */
async function findRecords(zone: PlannedZoneRef, ask: QueryResolver, inTime: () => boolean): Promise<readonly DnsRecordWrite[]> {
  const nowhere = `selvedge-${newId().slice(0, 12)}`;
  const questions: readonly ScanQuestion[] = [...HOST_TYPES.map((type) => ({ name: nowhere, type })), ...SCAN_QUESTIONS];
  const byName = new Map<string, DnsRecordWrite[]>();
  await eachAtOnce(questions, QUESTIONS_AT_ONCE, async ({ name, type }) => {
    if (!inTime()) return;
    const answers = await ask(name === "@" ? zone.name : `${name}.${zone.name}`, type);
    for (const answer of answers) listAt(byName, name).push({ ...answer, name });
  });
  const wildcard = hostRecords(byName.get(nowhere) ?? []);
  byName.delete(nowhere);
  const kept = [...byName.values()].map(hostRecords).filter((records) => wildcard.length === 0 || contents(records) !== contents(wildcard));
  return [...kept.flat(), ...wildcard.map((record) => ({ ...record, name: "*" }))];
}

/** For an alias, the resolver also returns the target's addresses, which belong to another name. */
function hostRecords(records: readonly DnsRecordWrite[]): readonly DnsRecordWrite[] {
  const aliases = records.filter(({ type }) => type === "CNAME");
  return aliases.length > 0 ? aliases.slice(0, 1) : records;
}

const contents = (records: readonly DnsRecordWrite[]): string =>
  JSON.stringify(records.map(({ type, content }) => [type, content]).toSorted());

async function eachAtOnce<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
