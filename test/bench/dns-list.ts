import { join } from "node:path";
import { createLongReads } from "#control/long-reads.ts";
import { createRecordLists } from "#control/dns/records/record-lists.ts";
import { createRecordView } from "#control/dns/changes/record-view.ts";
import { systemClock } from "#kernel/clock.ts";
import type { DnsRecordQuery } from "#model/dns/dns-record.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { fillStore, RECORDS } from "./million-records.ts";
import { quantile } from "./statistics.ts";

const PER_PAGE = 100;
const SAMPLES = 40;
/** A filter that scans gets as many samples as fit into this time. */
const FILTER_MS_MAX = 2_000;

/** Lists of 100 out of a million records in one zone, each with one filter; the value is the slowest indexed filter's p95. */
export const dnsListOneZone = dnsList("dns-list-1m", 1);
/** The same records spread over a thousand zones. */
export const dnsListManyZones = dnsList("dns-list-1m-spread", 1_000);

function dnsList(name: string, zones: number): Benchmark {
  return {
    name,
    unit: `ms at p95 of the slowest indexed filter, ${PER_PAGE} of ${RECORDS} records in ${zones} zone${zones > 1 ? "s" : ""}`,
    better: "lower",
    target: 20,
    tools: [],
    prepare: async ({ directory }) => {
      const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
      await fillStore(store, zones);
      let round = 0;
      return {
        ours: { name: "selvedge", run: () => measure(store, ++round) },
        close: () => store.close(),
      };
    },
  };
}

/** A filter, made from one of the records so that it finds something; `scan` if no index serves it. */
interface Filter {
  readonly label: string;
  readonly scan?: true;
  query(record: DnsRecordRow): DnsRecordQuery | null;
}

const tagOf = (record: DnsRecordRow): string | undefined => (JSON.parse(record.tags) as string[])[0];
const ifTagged = (record: DnsRecordRow, query: (tag: string) => DnsRecordQuery): DnsRecordQuery | null => {
  const tag = tagOf(record);
  return tag === undefined ? null : query(tag);
};
const ifCommented = ({ comment }: DnsRecordRow, query: (comment: string) => DnsRecordQuery): DnsRecordQuery | null =>
  comment === null ? null : query(comment);

const FILTERS: readonly Filter[] = [
  { label: "none", query: () => ({}) },
  { label: "name", query: ({ name }) => ({ name }) },
  { label: "name.startswith", query: ({ name }) => ({ "name.startswith": name.slice(0, 4) }) },
  { label: "name.endswith", query: ({ name }) => ({ "name.endswith": name.slice(3) }) },
  { label: "content", query: ({ content }) => ({ content }) },
  { label: "content.startswith", query: ({ content }) => ({ "content.startswith": content.slice(0, 7) }) },
  { label: "content.endswith", query: ({ content }) => ({ "content.endswith": content.slice(-6) }) },
  { label: "comment", query: (record) => ifCommented(record, (comment) => ({ comment })) },
  { label: "comment.startswith", query: (record) => ifCommented(record, (comment) => ({ "comment.startswith": comment.slice(0, 9) })) },
  { label: "comment.endswith", query: (record) => ifCommented(record, (comment) => ({ "comment.endswith": comment.slice(-6) })) },
  { label: "comment.present", query: () => ({ "comment.present": "" }) },
  { label: "comment.absent", query: () => ({ "comment.absent": "" }) },
  { label: "tag", query: (record) => ifTagged(record, (tag) => ({ tag })) },
  { label: "tag.startswith", query: (record) => ifTagged(record, (tag) => ({ "tag.startswith": tag.slice(0, 6) })) },
  { label: "tag.endswith", query: (record) => ifTagged(record, (tag) => ({ "tag.endswith": `team:${tag.slice(-1)}` })) },
  { label: "tag.present", query: () => ({ "tag.present": "team" }) },
  { label: "tag.absent", query: () => ({ "tag.absent": "team" }) },
  { label: "type", query: ({ type }) => ({ type }) },
  { label: "proxied", query: ({ proxied }) => ({ proxied: proxied === 1 }) },
  { label: "name.contains", scan: true, query: ({ name }) => ({ "name.contains": name.slice(1, 6) }) },
  { label: "content.contains", scan: true, query: ({ content }) => ({ "content.contains": content.slice(2) }) },
  {
    label: "comment.contains",
    scan: true,
    query: (record) => ifCommented(record, (comment) => ({ "comment.contains": comment.slice(2) })),
  },
  { label: "tag.contains", scan: true, query: (record) => ifTagged(record, (tag) => ({ "tag.contains": `team:${tag.slice(-2)}` })) },
  { label: "search", scan: true, query: ({ name }) => ({ search: name.slice(1, 7) }) },
];

async function measure(store: Store, round: number): Promise<Measurement> {
  const view = createRecordView({ origins: { edgeAddresses: new Set(), localOriginAllowed: () => true }, vendorPrefix: "svc" });
  const also: Record<string, number> = {};
  let slowest = 0;
  for (const { label, scan, query } of FILTERS) {
    // Nothing is counted yet: each round pays for its own counts.
    const list = createRecordLists({ store, view, longReads: createLongReads() });
    const times: number[] = [];
    const until = performance.now() + FILTER_MS_MAX;
    for (const record of await sample(store, round, (one) => query(one) !== null)) {
      if (times.length > 1 && performance.now() > until) break;
      const zone = { id: record.zone_id, account_id: "" };
      const started = performance.now();
      const page = await list(zone, query(record) ?? {}, { page: 1, per_page: PER_PAGE });
      JSON.stringify(page.items);
      times.push(performance.now() - started);
      if (page.items.length === 0) throw new Error(`${label} found nothing: ${JSON.stringify(query(record))}`);
    }
    also[`${label}_first_ms`] = times[0] ?? Number.NaN;
    also[`${label}_p50_ms`] = quantile(times, 0.5);
    also[`${label}_p95_ms`] = quantile(times, 0.95);
    if (!scan) slowest = Math.max(slowest, quantile(times, 0.95));
  }
  return { value: slowest, also };
}

/** Records spread evenly over all matches, different ones in each round. */
async function sample(store: Store, round: number, fits: (record: DnsRecordRow) => boolean): Promise<readonly DnsRecordRow[]> {
  const found: DnsRecordRow[] = [];
  for (let i = 0; found.length < SAMPLES && i < SAMPLES * 100; i++) {
    const from = ((round * 7919 + i * 104_729) % 65_536).toString(16).padStart(4, "0");
    const record = await store.read.selectFrom("dns_records").selectAll().where("id", ">=", from).orderBy("id").limit(1).executeTakeFirst();
    if (record && fits(record)) found.push(record);
  }
  return found;
}
