import assert from "node:assert/strict";
import { fc } from "../support/property.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { contentKey, contentPart, quoteText } from "#model/dns/dns-text.ts";
import type { DnsRecord, DnsRecordQuery } from "#model/dns/dns-record.ts";
import { writeRecords } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../support/control.ts";
import { storeTest } from "../support/store.ts";
import { createRecordView } from "#control/dns/changes/record-view.ts";
import { recordTest } from "#control/dns/records/list-filter.ts";
import { listRecordIds, listRecords } from "#store/dns/record-lists.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { createLongReads } from "#control/long-reads.ts";
import { createRecordLists, type ListDnsRecords } from "#control/dns/records/record-lists.ts";

// SQL finds the same as a plain loop over the records, in the same order, for any filter. The alphabet is small, so that
// values coincide, and has all characters with a meaning in LIKE, JSON or an index.

const ON = "2026-01-01T00:00:00.000000Z";
const ZONE = "b.example";
const text = (alphabet: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...alphabet), { maxLength }).map((parts) => parts.join(""));
const PLAIN = ["a", "b", "A", ".", "-", "_"];
const ODD = [...PLAIN, "%", "\\", '"', " ", "Ä", "ä", "😀", "\u{10ffff}", "[", "ab".repeat(33)];
const TAG_NAMES = ["a", "B", "a_b"];

const label = text(["a", "b", "_"], 3);
const tag = fc.tuple(fc.constantFrom(...TAG_NAMES), fc.option(text(["a", "B", ":", "%", "Ä", '"'], 3), { nil: null }));
const record = fc.record({
  name: label.map((part) => (part === "" ? ZONE : `${part}.${ZONE}`)),
  type: fc.constantFrom("A", "AAAA", "TXT", "MX"),
  content: text(ODD, 5),
  proxied: fc.integer({ min: 0, max: 1 }),
  ttl: fc.constantFrom(1, 60, 300),
  comment: fc.option(
    text(ODD, 4).filter((comment) => comment !== ""),
    { nil: null, freq: 2 },
  ),
  tags: fc.array(
    tag.map(([name, value]) => (value === null ? name : `${name}:${value}`)),
    { maxLength: 3 },
  ),
});
type Generated = typeof record extends fc.Arbitrary<infer T> ? T : never;

function row(zoneId: string, { tags, ...fields }: Generated): DnsRecordRow {
  const rest = { data: null, priority: null, settings: "{}", rdata: "", comment_modified_on: null, tags_modified_on: null };
  const content_key = contentKey(fields.content);
  return { id: newId(), zone_id: zoneId, ...fields, content_key, tags: JSON.stringify(tags), ...rest, created_on: ON, modified_on: ON };
}

const oneOrMany = (value: fc.Arbitrary<string>): fc.Arbitrary<string | string[]> =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: fc.array(value, { minLength: 2, maxLength: 3 }) });
const texts = (name: string, value: fc.Arbitrary<string>) =>
  Object.fromEntries(["", ".exact", ".contains", ".startswith", ".endswith"].map((suffix) => [`${name}${suffix}`, oneOrMany(value)]));
const nameValue = fc.oneof(
  label.map((part) => `${part}.${ZONE}`),
  text([...PLAIN, "%"], 2),
  fc.constantFrom(ZONE, "example", ".B.Example."),
);
const tagValue = tag.map(([name, value]) => (value === null ? name : `${name}:${value}`));
const present = { "comment.present": fc.constant(""), "comment.absent": fc.constant("") };

/** Most lists have one filter or none, some have several. */
const filters: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ...texts("name", nameValue),
  ...texts("content", text(ODD, 3)),
  ...texts("comment", text(ODD, 3)),
  ...texts("tag", tagValue),
  "tag.present": oneOrMany(fc.constantFrom(...TAG_NAMES)),
  "tag.absent": oneOrMany(fc.constantFrom(...TAG_NAMES)),
  ...present,
  type: oneOrMany(fc.constantFrom("A", "txt", "MX", "SRV")),
  proxied: fc.boolean(),
  search: text([...ODD, " "], 3),
};
const query = fc
  .tuple(
    fc
      .uniqueArray(fc.constantFrom(...Object.keys(filters)), { maxLength: 3 })
      .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, filters[key]!])))),
    fc.record(
      {
        match: fc.constantFrom("any", "all"),
        tag_match: fc.constantFrom("any", "all"),
        order: fc.constantFrom("type", "name", "content", "ttl", "proxied"),
        direction: fc.constantFrom("asc", "desc"),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([one, two]) => ({ ...one, ...two }) as DnsRecordQuery);

/** The naive list: what each filter means, said once more. */
function expected(rows: readonly DnsRecordRow[], asked: DnsRecordQuery): readonly DnsRecordRow[] {
  const kept = rows.filter((one) => {
    const checks = [...fieldChecks(one, asked), ...tagChecks(one, asked)];
    if (checks.length === 0) return true;
    return asked.match === "any" ? checks.some(Boolean) : checks.every(Boolean);
  });
  const keys = { name: [], type: ["type"], content: ["content_key"], ttl: ["ttl"], proxied: ["proxied"] } as const;
  const columns = [...keys[asked.order ?? "name"], "name", "type", "id"] as const;
  const sign = asked.direction === "desc" ? -1 : 1;
  return kept.toSorted((a, b) => sign * (columns.map((column) => compare(a[column], b[column])).find((order) => order !== 0) ?? 0));
}

/** Text by code point, as both dialects order it. */
const compare = (a: string | number, b: string | number): number =>
  typeof a === "string" && typeof b === "string" ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : Number(a) - Number(b);

const COMPARISONS: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  "": (one, value) => one === value,
  ".exact": (one, value) => one === value,
  ".contains": (one, value) => one.includes(value),
  ".startswith": (one, value) => one.startsWith(value),
  ".endswith": (one, value) => one.endsWith(value),
};
const many = (value: unknown): readonly string[] => (value === undefined ? [] : Array.isArray(value) ? value : [value as string]);
const withoutDot = (value: string): string => value.replace(/\.$/, "");

function fieldChecks(one: DnsRecordRow, asked: DnsRecordQuery): boolean[] {
  const checks: boolean[] = [];
  for (const [suffix, holds] of Object.entries(COMPARISONS)) {
    const exact = suffix === "" || suffix === ".exact";
    const check = (name: string, fold: (value: string) => string, column: string | null): void => {
      const given = many((asked as Record<string, unknown>)[`${name}${suffix}`]);
      // Text with escapes is also looked for as the service shows it after adding quotes.
      const shown =
        exact && name === "content" ? given.filter((value) => value.includes("\\")).flatMap((value) => quoteText(value) ?? []) : [];
      const results = [...given, ...shown].map((value) => column !== null && holds(column, fold(value)));
      if (results.length > 0) checks.push(...(exact ? [results.some(Boolean)] : results));
    };
    check("name", (value) => (exact || suffix === ".endswith" ? withoutDot(value.toLowerCase()) : value.toLowerCase()), one.name);
    check(
      "content",
      (value) =>
        exact
          ? contentKey(value)
          : suffix === ".startswith"
            ? contentPart(value).trimStart()
            : suffix === ".endswith"
              ? withoutDot(contentPart(value).trimEnd())
              : contentPart(value),
      one.content_key,
    );
    check("comment", (value) => value.toLowerCase(), one.comment?.toLowerCase() ?? null);
  }
  if (asked["comment.present"] !== undefined) checks.push(one.comment !== null);
  if (asked["comment.absent"] !== undefined) checks.push(one.comment === null);
  if (asked.type !== undefined) checks.push(many(asked.type).some((type) => type.toUpperCase() === one.type));
  if (asked.proxied !== undefined) checks.push((one.proxied === 1) === asked.proxied);
  const words = (asked.search ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length > 0) checks.push(words.every((word) => searchFinds(one, word)));
  return checks;
}

const searchFinds = (one: DnsRecordRow, word: string): boolean =>
  [one.name, one.comment?.toLowerCase() ?? "", ...split(one).map(({ name, value }) => `${name}:${value}`)].some((column) =>
    column.includes(word),
  ) || one.content_key.includes(contentPart(word) || word);

const pair = (whole: string): { name: string; value: string } => {
  const [name = "", ...rest] = whole.toLowerCase().split(":");
  return { name, value: rest.join(":") };
};
const split = (one: DnsRecordRow): { name: string; value: string }[] => (JSON.parse(one.tags) as string[]).map(pair);

/** All the tag filters are one condition, joined by `tag_match`. */
function tagChecks(one: DnsRecordRow, asked: DnsRecordQuery): boolean[] {
  const tags = split(one);
  const checks = Object.entries(COMPARISONS).flatMap(([suffix, holds]) =>
    many((asked as Record<string, unknown>)[`tag${suffix}`])
      .map(pair)
      .map((wanted) => tags.some(({ name, value }) => name === wanted.name && holds(value, wanted.value))),
  );
  for (const name of many(asked["tag.present"])) checks.push(tags.some((has) => has.name === pair(name).name));
  for (const name of many(asked["tag.absent"])) checks.push(!tags.some((has) => has.name === pair(name).name));
  return checks.length === 0 ? [] : [asked.tag_match === "any" ? checks.some(Boolean) : checks.every(Boolean)];
}

interface Filled {
  readonly zone: Pick<PlannedZoneRef, "id" | "account_id">;
  readonly rows: readonly DnsRecordRow[];
  readonly list: ListDnsRecords;
}

async function filled(store: Store, seed: number): Promise<Filled> {
  const { control, account_id, call } = await controlOver(store);
  const add = (name: string) => control.zones.create(call(), { name, account: { id: account_id } });
  const [zone, other] = [await add(ZONE), await add("other.example")];
  const [first, second] = [seed, seed + 1].map((one) => fc.sample(record, { seed: one, numRuns: 60 }));
  const rows = (first ?? []).map((one) => row(zone.id, one));
  // Half of them were something else before, so that the keys of changed rows are tried as well.
  const earlier = rows.map((one, i) => (i % 2 === 0 ? one : { ...row(zone.id, second![i]!), id: one.id }));
  const gone = (second ?? []).slice(0, 20).map((one) => row(zone.id, one));
  await store.write(async ({ db }) => {
    const created = (after: DnsRecordRow) => ({ before: null, after });
    await writeRecords(db, zone.id, [...earlier, ...gone].map(created));
    await writeRecords(
      db,
      other.id,
      (second ?? []).map((one) => created(row(other.id, one))),
    );
    const replaced = rows.flatMap((after, i) => (i % 2 === 1 ? [{ before: earlier[i]!, after }] : []));
    await writeRecords(db, zone.id, [...replaced, ...gone.map((before) => ({ before, after: null }))]);
    await db.updateTable("zones").set({ record_count: rows.length }).where("id", "=", zone.id).execute();
  });
  const view = createRecordView({ origins: { edgeAddresses: new Set(), localOriginAllowed: () => true }, vendorPrefix: "svc" });
  return { zone: { id: zone.id, account_id }, rows, list: createRecordLists({ store, view, longReads: createLongReads() }) };
}

const ids = (records: readonly Pick<DnsRecord, "id">[]): string[] => records.map(({ id }) => id);

storeTest("any combination of filters finds the same records as a plain loop, page by page", async ({ store }) => {
  const { zone, rows, list } = await filled(store, 1);
  await fc.assert(
    fc.asyncProperty(query, fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 4 }), async (asked, per_page, page) => {
      const all = ids(expected(rows, asked));
      const found = await list(zone, asked, { page, per_page });
      assert.deepEqual(ids(found.items), all.slice((page - 1) * per_page, page * per_page));
      assert.equal(found.total_count, all.length);
    }),
    { numRuns: 600 },
  );
});

storeTest("every way of reading a page gives the same page", async ({ store }) => {
  const { zone, rows } = await filled(store, 9);
  const costs = fc.record({ entriesMax: fc.constantFrom(0, 5, 5000), entriesPerRow: fc.constantFrom(0, 1, 1e6) });
  const window = fc.record({ limit: fc.integer({ min: 1, max: 40 }), offset: fc.integer({ min: 0, max: 60 }) });
  await fc.assert(
    fc.asyncProperty(query, window, costs, fc.boolean(), fc.nat(60), async (asked, { limit, offset }, cost, counted, position) => {
      const wanted = expected(rows, asked);
      const all = ids(wanted);
      const known_total = counted ? all.length : null;
      const known = position <= offset ? wanted[position - 1] : undefined;
      const from = known === undefined ? null : { position, row: known };
      const list = { zone_id: zone.id, test: recordTest(asked), order: asked.order ?? "name", direction: asked.direction ?? "asc" };
      const asks = { limit, offset, from, records: rows.length, known_total };
      const found = await listRecords(store, list, asks, cost);
      assert.deepEqual([ids(found.items), found.total], [all.slice(offset, offset + limit), all.length]);
      assert.deepEqual(await listRecordIds(store, list, asks), ids(found.items).join(""));
    }),
    { numRuns: 800 },
  );
});

storeTest("each filter alone finds the same records as a plain loop", async ({ store }) => {
  const { zone, rows, list } = await filled(store, 5);
  for (const [name, value] of Object.entries(filters)) {
    let met = 0;
    for (const sample of fc.sample(value, { seed: 3, numRuns: 15 })) {
      const asked = { [name]: sample } as DnsRecordQuery;
      const all = expected(rows, asked);
      // Once where few are found and once where many are: the two ways of listing.
      for (const per_page of [1, 100]) {
        const found = await list(zone, asked, { page: 1, per_page });
        assert.deepEqual([ids(found.items), found.total_count], [ids(all).slice(0, per_page), all.length], JSON.stringify(asked));
      }
      met += all.length;
    }
    assert.ok(met > 0, `${name} never found anything, so nothing was tested`);
  }
});
