import { type Kysely, type RawBuilder, sql } from "kysely";
import { ALWAYS, type Condition } from "./record-conditions.ts";
import { countedRecords } from "./record-counts.ts";
import {
  behind,
  countRows,
  entriesTo,
  fewFound,
  type Filtered,
  type RecordPage,
  inOrder,
  type ListWindow,
  ofZone,
  orderColumns,
  ORDERED_BY_INDEX,
  orderOf,
  pageByNames,
  type RecordList,
  selectRows,
  walkNames,
} from "./record-pages.ts";
import { facetsOf, type RecordSource, sourceOf } from "./record-sources.ts";
import type { Store } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";

type Db = Kysely<Tables>;

/** Limits that decide between ways of finding the same page. */
export interface ListCosts {
  /** Index entries that take a few milliseconds to read. */
  readonly entriesMax: number;
  /** Index entries that can be read in the time of one row. */
  readonly entriesPerRow: number;
}

const COSTS: ListCosts = { entriesMax: 2_000, entriesPerRow: 12 };

/**
 * One page of a zone's records, and the total. Needs no database statistics. Queries that may read more than some
 * thousand index entries run on `store.scan`, so that they delay only each other.
 */
export async function listRecords(store: Store, list: RecordList, window: ListWindow, costs: ListCosts = COSTS): Promise<RecordPage> {
  const { read } = store;
  // A small zone is read quickly, so its lists need not wait behind slow ones.
  const dbs: Databases = { read, scan: window.records <= costs.entriesMax ? read : store.scan };
  const { test } = list;
  if (test === null) {
    const quick = ORDERED_BY_INDEX.has(list.order) && entriesTo(window) <= costs.entriesMax;
    return { items: await inOrder(quick ? read : dbs.scan, list, window), total: window.records };
  }
  const facets = facetsOf(test);
  const total = window.known_total ?? (facets && (await countedRecords(read, list.zone_id, facets)));
  if (total !== null && total <= window.offset) return { items: [], total };
  const known = { source: sourceOf(test, list.zone_id), total, ...costs };
  return list.order === "name" ? listByNames(dbs, { ...list, test }, window, known) : listByRows(dbs, { ...list, test }, window, known);
}

type Databases = Pick<Store, "read" | "scan">;

/** Facts that are known before any record is read. */
interface Known extends ListCosts {
  readonly source: RecordSource;
  readonly total: number | null;
}

/**
 * The list in its default order. The indexes contain the names of all matches, so only the page's rows are read. If there
 * are many matches, the page may be found sooner in the index of names, where the next match is near.
 */
async function listByNames({ read, scan }: Databases, list: Filtered, window: ListWindow, known: Known): Promise<RecordPage> {
  const { source, entriesMax, entriesPerRow } = known;
  const { rest, bounded } = source;
  const end = entriesTo(window);
  if (source.ordered && known.total !== null)
    return { items: await selectRows(end <= entriesMax ? read : scan, list, window, source.rows(null)), total: known.total };
  const names = source.names(null);
  if (known.total === null || known.total <= entriesMax) {
    const few = bounded && (await fewOf(read, list, window, known));
    if (few) return few;
    if (!bounded || rest !== null) return pageByNames(scan, list, window, { names: kept(names), total: known.total });
  }
  const total = known.total ?? (await countRows(scan, names));
  const rowsExpected = Math.ceil((end * window.records) / total);
  if (rowsExpected * entriesPerRow <= total) {
    const items = await walkNames(4 * rowsExpected <= entriesMax ? read : scan, list, window, 4 * rowsExpected);
    if (items.length === Math.min(window.limit, total - window.offset)) return { items, total };
  }
  return pageByNames(scan, list, window, { names: bounded && rest === null ? readAgain(names) : kept(names), total });
}

/** Null if the index finds more than a few. */
async function fewOf(db: Db, list: Filtered, window: ListWindow, { source, entriesMax }: Known): Promise<RecordPage | null> {
  const { rest } = source;
  if (rest !== null) return fewFound(db, list, window, { candidates: source.rows(entriesMax + 1), rest, max: entriesMax });
  const found = await pageByNames(db, list, window, { names: readAgain(source.names(entriesMax + 1)), total: null });
  return found.total <= entriesMax ? found : null;
}

/** Reading an index range twice is cheaper than materializing it, unless many entries in it do not match. */
const readAgain = (names: RawBuilder<unknown>): RawBuilder<unknown> => sql`NOT MATERIALIZED (${names})`;
const kept = (names: RawBuilder<unknown>): RawBuilder<unknown> => sql`MATERIALIZED (${names})`;

/**
 * A list in another order. If an index finds few matches, they are read and sorted; if many, the page is searched in the
 * index of the order, if one exists. The limit is √(end of page × records in the zone), at which both read the same
 * number of rows.
 */
async function listByRows({ read, scan }: Databases, list: Filtered, window: ListWindow, known: Known): Promise<RecordPage> {
  const { source, entriesMax } = known;
  const rest = source.rest ?? ALWAYS;
  const max = Math.ceil(Math.sqrt(Math.min(window.offset + window.limit, window.records) * window.records));
  const all = sql<never>`${source.rows(null)} AND ${rest}` as Condition;
  if (known.total === null || known.total <= max) {
    const quickMax = Math.min(max, entriesMax);
    const few = source.bounded ? await fewFound(read, list, window, { candidates: source.rows(quickMax + 1), rest, max: quickMax }) : null;
    const found = few ?? (await fewFound(scan, list, window, { candidates: all, rest: ALWAYS, max }));
    if (found) return found;
  }
  const total = known.total ?? (await countRows(scan, sql`SELECT 1 FROM dns_records WHERE ${all}`));
  const items = ORDERED_BY_INDEX.has(list.order) ? inOrder(scan, list, window) : selectRows(scan, list, window, all);
  return { items: await items, total };
}

/** The ids of a page of any length, concatenated: returning a million rows is expensive, one text is not. */
export async function listRecordIds(store: Store, list: RecordList, { limit, offset, from = null }: ListWindow): Promise<string> {
  const { test, zone_id } = list;
  const source = test && sourceOf(test, zone_id);
  const condition = source ? sql`${source.rows(null)} AND ${source.rest ?? ALWAYS}` : ofZone(list);
  const place = ORDERED_BY_INDEX.has(list.order) ? from : null;
  const rest = place === null ? condition : sql`${condition} AND ${behind(list, place)}`;
  // The page is selected before its rows are numbered; otherwise all rows of the zone would be.
  const { rows } = await sql<{ ids: string | null }>`
    SELECT string_agg(id, '' ORDER BY position) AS ids FROM (
      SELECT id, row_number() OVER (ORDER BY ${orderOf(list)}) AS position FROM (
        SELECT ${orderColumns(list)} FROM dns_records WHERE ${rest}
        ORDER BY ${orderOf(list)} LIMIT ${limit} OFFSET ${offset - (place?.position ?? 0)}
      ) AS page
    ) AS numbered`.execute(store.scan);
  return rows[0]?.ids ?? "";
}

/** The state for which a count of the zone's records is valid: any change of a record raises the serial. */
export const zoneState = (db: Db, zoneId: string): Promise<{ serial: number; record_count: number } | undefined> =>
  db.selectFrom("zones").select(["serial", "record_count"]).where("id", "=", zoneId).executeTakeFirst();
