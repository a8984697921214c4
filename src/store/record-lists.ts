import { type Kysely, type RawBuilder, sql } from "kysely";
import { type DnsRecordRow, RECORD_COLUMNS } from "#store/dns-records.ts";
import { ALWAYS, type Condition, judging, type RecordTest } from "#store/record-conditions.ts";
import { countedRecords } from "#store/record-counts.ts";
import { facetsOf, type RecordSource, sourceOf } from "#store/record-sources.ts";
import type { Store } from "#store/store.ts";
import type { Tables } from "#store/tables.ts";

export interface RecordList {
  readonly zone_id: string;
  /** Null for all records of the zone. */
  readonly test: RecordTest | null;
  readonly order: "type" | "name" | "content" | "ttl" | "proxied";
  readonly direction: "asc" | "desc";
}

export interface ListWindow {
  readonly limit: number;
  readonly offset: number;
  /** Records in the zone, whatever the filter. */
  readonly records: number;
  /** Records that the filter finds, where somebody has counted them since the zone last changed. */
  readonly known_total: number | null;
}

export interface FoundRecords {
  readonly items: readonly DnsRecordRow[];
  readonly total: number;
}

/** A list that has a filter. */
interface Filtered extends RecordList {
  readonly test: RecordTest;
}

/** What decides between ways of finding the same page. */
export interface ListCosts {
  /** Entries of an index that take the thread a few milliseconds. */
  readonly entriesMax: number;
  /** How many entries of an index are read while one row is. */
  readonly entriesPerRow: number;
}

const COSTS: ListCosts = { entriesMax: 2_000, entriesPerRow: 12 };

type Db = Kysely<Tables>;

/**
 * One page of a zone's records, and how many there are. No statistics are needed. Whatever may read more than some
 * thousand entries of an index runs on `store.scan`, where nobody else waits for it.
 */
export async function listRecords(store: Store, list: RecordList, window: ListWindow, costs: ListCosts = COSTS): Promise<FoundRecords> {
  const { test } = list;
  if (test === null) {
    const quick = ORDERED_BY_INDEX.has(list.order) && window.offset + window.limit <= costs.entriesMax;
    return { items: await inOrder(quick ? store.read : store.scan, list, window), total: window.records };
  }
  const facets = facetsOf(test);
  const total = window.known_total ?? (facets && (await countedRecords(store.read, list.zone_id, facets)));
  if (total !== null && total <= window.offset) return { items: [], total };
  const known = { source: sourceOf(test, list.zone_id), total, ...costs };
  return list.order === "name" ? listByNames(store, { ...list, test }, window, known) : listByRows(store, { ...list, test }, window, known);
}

/** The identifiers of a page that may be of any length, one after the other: a million rows are dear to hand over, one text is not. */
export async function listRecordIds(store: Store, list: RecordList, { limit, offset }: ListWindow): Promise<string> {
  const { test, zone_id } = list;
  const source = test && sourceOf(test, zone_id);
  const condition = source ? sql`${source.rows(null)} AND ${source.rest ?? ALWAYS}` : ofZone(list);
  const { rows } = await sql<{ ids: string | null }>`
    SELECT string_agg(id, '' ORDER BY position) AS ids FROM (
      SELECT id, row_number() OVER (ORDER BY ${orderOf(list)}) AS position FROM dns_records WHERE ${condition}
      ORDER BY position LIMIT ${limit} OFFSET ${offset}
    ) AS page`.execute(store.scan);
  return rows[0]?.ids ?? "";
}

/** What a count of the zone's records holds for: any change of a record raises the serial. */
export const zoneState = (db: Db, zoneId: string): Promise<{ serial: number; record_count: number } | undefined> =>
  db.selectFrom("zones").select(["serial", "record_count"]).where("id", "=", zoneId).executeTakeFirst();

const ORDERED_BY_INDEX: ReadonlySet<RecordList["order"]> = new Set(["name", "type", "content"]);

const ofZone = ({ zone_id }: RecordList): Condition => sql`zone_id = ${zone_id}`;

const columns = sql.join(RECORD_COLUMNS.map((column) => sql.ref(column)));

/** What is known before any record is read. */
interface Known extends ListCosts {
  readonly source: RecordSource;
  readonly total: number | null;
}

/**
 * The list in its usual order: indexes have the names of all that the filter finds, so that no row is read but those
 * of the page. Where they are many, the page may be found sooner in the index of names, in which the next is near.
 */
async function listByNames(store: Store, list: Filtered, window: ListWindow, known: Known): Promise<FoundRecords> {
  const { source, entriesMax, entriesPerRow } = known;
  const { rest, bounded } = source;
  const end = window.offset + window.limit;
  if (source.ordered && known.total !== null)
    return { items: await selectRows(end <= entriesMax ? store.read : store.scan, list, window, source.rows(null)), total: known.total };
  const names = source.names(null);
  if (known.total === null || known.total <= entriesMax) {
    const few = bounded && (await fewOf(store.read, list, window, known));
    if (few) return few;
    if (!bounded || rest !== null) return pageByNames(store.scan, list, window, { names: kept(names), total: null });
  }
  const total = known.total ?? (await countRows(store.scan, names));
  const rowsExpected = Math.ceil((end * window.records) / total);
  if (rowsExpected * entriesPerRow <= total) {
    const items = await walkNames(store.scan, list, window, 4 * rowsExpected);
    if (items.length === Math.min(window.limit, total - window.offset)) return { items, total };
  }
  return pageByNames(store.scan, list, window, { names: bounded && rest === null ? readAgain(names) : kept(names), total });
}

/** Null where the index finds more than a few. */
async function fewOf(db: Db, list: Filtered, window: ListWindow, { source, entriesMax }: Known): Promise<FoundRecords | null> {
  const { rest } = source;
  if (rest !== null) return fewFound(db, list, window, { candidates: source.rows(entriesMax + 1), rest, max: entriesMax });
  const found = await pageByNames(db, list, window, { names: readAgain(source.names(entriesMax + 1)), total: null });
  return found.total <= entriesMax ? found : null;
}

/** Reading a range of an index twice costs less than keeping it, unless much in between is left out. */
const readAgain = (names: RawBuilder<unknown>): RawBuilder<unknown> => sql`NOT MATERIALIZED (${names})`;
const kept = (names: RawBuilder<unknown>): RawBuilder<unknown> => sql`MATERIALIZED (${names})`;

/** Counts the names unless that is done, and sorts them, then reads the rows of those that are on the page. */
async function pageByNames(
  db: Db,
  list: Filtered,
  { limit, offset }: ListWindow,
  { names, total }: { readonly names: RawBuilder<unknown>; readonly total: number | null },
): Promise<FoundRecords> {
  const count = total === null ? sql`(SELECT count(*) FROM found)` : sql`CAST(${total} AS bigint)`;
  // Rows of the page's first name may be on the page before.
  const beforePage = list.direction === "asc" ? sql`name < (SELECT min(name) FROM on_page)` : sql`name > (SELECT max(name) FROM on_page)`;
  const skipped = offset === 0 ? sql`0` : sql`${offset} - (SELECT count(*) FROM found WHERE ${beforePage})`;
  // The count stands in one row, beside which the page may be empty. The names are not in the words of an index, or else
  // SQLite may go through all names of the zone so as not to sort.
  const { rows } = await sql<DnsRecordRow & { found_count: number }>`
    WITH found AS ${names}, on_page AS MATERIALIZED (
      SELECT name FROM found ORDER BY name || '' ${sql.raw(list.direction)} LIMIT ${limit} OFFSET ${offset}
    )
    SELECT counts.*, page.* FROM (SELECT ${count} AS found_count) AS counts LEFT JOIN (
      SELECT ${columns} FROM dns_records WHERE ${ofZone(list)} AND name IN (SELECT name FROM on_page) AND ${judging(list.test)}
      ORDER BY ${orderOf(list)} LIMIT ${limit} OFFSET ${skipped}
    ) AS page ON 1 = 1 ORDER BY ${orderOf(list)}`.execute(db);
  return { items: rows[0]?.id === null ? [] : rows, total: rows[0]?.found_count ?? 0 };
}

/** Looks through the zone in the order of names, but only as far as about so many rows. */
async function walkNames(db: Db, list: Filtered, window: ListWindow, rowsMax: number): Promise<readonly DnsRecordRow[]> {
  const [beyond, all] = list.direction === "asc" ? [sql`<=`, "\u{10ffff}"] : [sql`>=`, ""];
  const last = sql`SELECT name FROM dns_records WHERE ${ofZone(list)} ORDER BY name ${sql.raw(list.direction)} LIMIT 1 OFFSET ${rowsMax}`;
  return selectRows(db, list, window, sql`${ofZone(list)} AND name ${beyond} coalesce((${last}), ${all}) AND ${judging(list.test)}`);
}

/**
 * A list in another order: where an index finds few, they are read and sorted; where many, they are looked for in the
 * index of the order if there is one. Between the two lies √(end of page × records in the zone), at which both read as
 * many rows.
 */
async function listByRows(store: Store, list: Filtered, window: ListWindow, known: Known): Promise<FoundRecords> {
  const { source, entriesMax } = known;
  const rest = source.rest ?? ALWAYS;
  const max = Math.ceil(Math.sqrt(Math.min(window.offset + window.limit, window.records) * window.records));
  const all = sql<never>`${source.rows(null)} AND ${rest}` as Condition;
  if (known.total === null || known.total <= max) {
    const quickMax = Math.min(max, entriesMax);
    const few = source.bounded
      ? await fewFound(store.read, list, window, { candidates: source.rows(quickMax + 1), rest, max: quickMax })
      : null;
    const found = few ?? (await fewFound(store.scan, list, window, { candidates: all, rest: ALWAYS, max }));
    if (found) return found;
  }
  const total = known.total ?? (await countRows(store.scan, sql`SELECT 1 FROM dns_records WHERE ${all}`));
  const items = ORDERED_BY_INDEX.has(list.order) ? inOrder(store.scan, list, window) : selectRows(store.scan, list, window, all);
  return { items: await items, total };
}

/** Finds the candidates by their index, then keeps, sorts and counts what else fits; null where there are more than `max`. */
async function fewFound(
  db: Db,
  list: RecordList,
  { limit, offset }: ListWindow,
  { candidates, rest, max }: { readonly candidates: Condition; readonly rest: Condition; readonly max: number },
): Promise<FoundRecords | null> {
  const { rows } = await sql<DnsRecordRow & Counts>`
    WITH candidate AS MATERIALIZED (
      SELECT ${columns}, comment_key, commented, tagged FROM dns_records WHERE ${candidates} LIMIT ${max + 1}
    ), found AS MATERIALIZED (
      SELECT * FROM candidate AS dns_records WHERE ${rest}
    )
    SELECT counts.*, page.* FROM (
      SELECT (SELECT count(*) FROM candidate) AS candidate_count, (SELECT count(*) FROM found) AS found_count
    ) AS counts LEFT JOIN (
      SELECT ${columns} FROM found ORDER BY ${orderOf(list)} LIMIT ${limit} OFFSET ${offset}
    ) AS page ON 1 = 1 ORDER BY ${orderOf(list)}`.execute(db);
  const [first] = rows;
  if (first === undefined || first.candidate_count > max) return null;
  return { items: first.id === null ? [] : rows, total: first.found_count };
}

interface Counts {
  readonly candidate_count: number;
  readonly found_count: number;
}

/** The page out of all that fit, in the order in which the zone's index has them. */
const inOrder = (db: Db, list: RecordList, window: ListWindow): Promise<readonly DnsRecordRow[]> =>
  selectRows(db, list, window, list.test === null ? ofZone(list) : sql`${ofZone(list)} AND ${judging(list.test)}`);

async function selectRows(db: Db, list: RecordList, { limit, offset }: ListWindow, condition: Condition): Promise<readonly DnsRecordRow[]> {
  const page = sql`ORDER BY ${orderOf(list)} LIMIT ${limit} OFFSET ${offset}`;
  // What has to be sorted is sorted by what the index of names has, before any row is read.
  const { rows } = ORDERED_BY_INDEX.has(list.order)
    ? await sql<DnsRecordRow>`SELECT ${columns} FROM dns_records WHERE ${condition} ${page}`.execute(db)
    : await sql<DnsRecordRow>`
        SELECT ${columns} FROM dns_records WHERE id IN (SELECT id FROM dns_records WHERE ${condition} ${page})
        ORDER BY ${orderOf(list)}`.execute(db);
  return rows;
}

async function countRows(db: Db, query: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM (${query}) AS found`.execute(db);
  return rows[0]?.total ?? 0;
}

/** Name, type and id make one order of records that are otherwise equal; all in one direction, as indexes are. */
const ORDERS: Readonly<Record<RecordList["order"], readonly string[]>> = {
  name: ["name", "type", "id"],
  type: ["type", "name", "id"],
  content: ["substr(content_key, 1, 64)", "content_key", "name", "type", "id"],
  ttl: ["ttl", "name", "type", "id"],
  proxied: ["proxied", "name", "type", "id"],
};

const orderOf = ({ order, direction }: RecordList): RawBuilder<unknown> =>
  sql.join(ORDERS[order].map((term) => sql`${sql.raw(term)} ${sql.raw(direction)}`));
