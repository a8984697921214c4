import { type Kysely, type RawBuilder, sql } from "kysely";
import { RECORD_COLUMNS } from "./dns-records.ts";
import type { DnsRecordRow } from "./record-row.ts";
import { type Condition, judging, type RecordTest } from "./record-conditions.ts";
import { keyHead } from "./record-keys.ts";
import type { Tables } from "#store/queries/tables.ts";

// Queries for pages of a list; store/dns/record-lists.ts chooses between them.

type Db = Kysely<Tables>;

export interface RecordList {
  readonly zone_id: string;
  /** Null: all records of the zone. */
  readonly test: RecordTest | null;
  readonly order: "type" | "name" | "content" | "ttl" | "proxied";
  readonly direction: "asc" | "desc";
}

export interface ListWindow {
  readonly limit: number;
  readonly offset: number;
  /** A record of this list after which reading starts, and the number of records up to it; null or absent: from the start. */
  readonly from?: RecordPosition | null;
  /** Number of records in the zone, regardless of the filter. */
  readonly records: number;
  /** Number of matching records, if it was counted since the zone last changed. */
  readonly known_total: number | null;
}

export interface RecordPosition {
  readonly position: number;
  readonly row: Pick<DnsRecordRow, "name" | "type" | "id" | "content_key">;
}

export interface RecordPage {
  readonly items: readonly DnsRecordRow[];
  readonly total: number;
}

/** A list with a filter. */
export interface Filtered extends RecordList {
  readonly test: RecordTest;
}

/** Number of index entries that are read up to the end of the page. */
export const entriesTo = ({ limit, offset, from }: ListWindow): number => offset - (from?.position ?? 0) + limit;

export const ORDERED_BY_INDEX: ReadonlySet<RecordList["order"]> = new Set(["name", "type", "content"]);

export const ofZone = ({ zone_id }: RecordList): Condition => sql`zone_id = ${zone_id}`;

const columns = sql.join(RECORD_COLUMNS.map((column) => sql.ref(column)));

/** Counts the names unless the total is known, sorts them, then reads the rows of the page. */
export async function pageByNames(
  db: Db,
  list: Filtered,
  { limit, offset }: ListWindow,
  { names, total }: { readonly names: RawBuilder<unknown>; readonly total: number | null },
): Promise<RecordPage> {
  const count = total === null ? sql`(SELECT count(*) FROM found)` : sql`CAST(${total} AS bigint)`;
  // Rows of the page's first name may belong to the previous page.
  const beforePage = list.direction === "asc" ? sql`name < (SELECT min(name) FROM on_page)` : sql`name > (SELECT max(name) FROM on_page)`;
  const skipped = offset === 0 ? sql`0` : sql`${offset} - (SELECT count(*) FROM found WHERE ${beforePage})`;
  // The count has its own row, because the page may be empty. The name is an expression that no index matches; otherwise
  // SQLite may scan all names of the zone to avoid sorting.
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

/** Scans the zone in the order of names, but at most about `rowsMax` rows. */
export async function walkNames(db: Db, list: Filtered, window: ListWindow, rowsMax: number): Promise<readonly DnsRecordRow[]> {
  const [beyond, all] = list.direction === "asc" ? [sql`<=`, "\u{10ffff}"] : [sql`>=`, ""];
  const { from } = window;
  const begun = from ? sql` AND name ${list.direction === "asc" ? sql`>=` : sql`<=`} ${from.row.name}` : sql``;
  const last = sql`SELECT name FROM dns_records WHERE ${ofZone(list)}${begun} ORDER BY name ${sql.raw(list.direction)} LIMIT 1 OFFSET ${rowsMax}`;
  return selectRows(db, list, window, sql`${ofZone(list)} AND name ${beyond} coalesce((${last}), ${all}) AND ${judging(list.test)}`);
}

/** Finds the candidates by their index, then filters, sorts and counts them; null if there are more than `max`. */
export async function fewFound(
  db: Db,
  list: RecordList,
  { limit, offset }: ListWindow,
  { candidates, rest, max }: { readonly candidates: Condition; readonly rest: Condition; readonly max: number },
): Promise<RecordPage | null> {
  const { rows } = await sql<DnsRecordRow & Counts>`
    WITH candidate AS MATERIALIZED (
      SELECT ${columns}, comment_key, commented, tagged FROM dns_records WHERE ${candidates} LIMIT ${max + 1}
    ), found AS MATERIALIZED (
      SELECT * FROM candidate AS dns_records WHERE ${rest}
    )
    SELECT counts.*, page.* FROM (
      SELECT (SELECT count(*) FROM candidate) AS candidate_count, (SELECT count(*) FROM found) AS found_count
    ) AS counts LEFT JOIN (
      SELECT ${columns} FROM found ORDER BY ${sortedBy(list)} LIMIT ${limit} OFFSET ${offset}
    ) AS page ON 1 = 1 ORDER BY ${sortedBy(list)}`.execute(db);
  const [first] = rows;
  if (first === undefined || first.candidate_count > max) return null;
  return { items: first.id === null ? [] : rows, total: first.found_count };
}

interface Counts {
  readonly candidate_count: number;
  readonly found_count: number;
}

/** The page of all matches, in the order of the zone's index. */
export const inOrder = (db: Db, list: RecordList, window: ListWindow): Promise<readonly DnsRecordRow[]> =>
  selectRows(db, list, window, list.test === null ? ofZone(list) : sql`${ofZone(list)} AND ${judging(list.test)}`);

export async function selectRows(db: Db, list: RecordList, window: ListWindow, condition: Condition): Promise<readonly DnsRecordRow[]> {
  const isByIndex = ORDERED_BY_INDEX.has(list.order);
  const from = isByIndex ? (window.from ?? null) : null;
  const skipped = window.offset - (from?.position ?? 0);
  const wanted = from === null ? condition : sql<never>`${condition} AND ${behind(list, from)}`;
  const page = sql`ORDER BY ${orderOf(list)} LIMIT ${window.limit} OFFSET ${skipped}`;
  // Sorting and skipping use the index only; rows are read for the page alone.
  const { rows } =
    isByIndex && skipped <= SKIPPED_WITH_ROWS
      ? await sql<DnsRecordRow>`SELECT ${columns} FROM dns_records WHERE ${wanted} ${page}`.execute(db)
      : await sql<DnsRecordRow>`
        SELECT ${columns} FROM dns_records WHERE id IN (SELECT id FROM dns_records WHERE ${wanted} ${page})
        ORDER BY ${orderOf(list)}`.execute(db);
  return rows;
}

/** Beyond this offset the index is read alone, because PostgreSQL reads the row of each skipped entry. */
const SKIPPED_WITH_ROWS = 1_000;

export async function countRows(db: Db, query: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM (${query}) AS found`.execute(db);
  return rows[0]?.total ?? 0;
}

/** Name, type and id make the order of equal records unique; all in one direction, like the indexes. */
const ORDERS: Readonly<Record<RecordList["order"], readonly string[]>> = {
  name: ["name", "type", "id"],
  type: ["type", "name", "id"],
  content: ["content_key", "name", "type", "id"],
  ttl: ["ttl", "name", "type", "id"],
  proxied: ["proxied", "name", "type", "id"],
};

/** Records after the given one in the order of an index. */
export function behind(list: RecordList, { row }: RecordPosition): Condition {
  const terms = list.order === "content" ? ["content_head", ...ORDERS.content] : ORDERS[list.order];
  const values: Readonly<Record<string, string>> = { ...row, content_head: keyHead(row.content_key) };
  const [left, right] = [sql.join(terms.map((term) => sql.raw(term))), sql.join(terms.map((term) => values[term]))];
  return sql`(${left}) ${list.direction === "asc" ? sql`>` : sql`<`} (${right})`;
}

/** The order for sorting rows that were read. */
const sortedBy = ({ order, direction }: RecordList): RawBuilder<unknown> =>
  sql.join(ORDERS[order].map((term) => sql`${sql.raw(term)} ${sql.raw(direction)}`));

/** The columns that `orderOf` and `sortedBy` use. */
export const orderColumns = (list: RecordList): RawBuilder<unknown> =>
  sql.raw([...new Set(["id", ...ORDERS[list.order], ...(list.order === "content" ? ["content_head"] : [])])].join(", "));

/** The same order, in terms of the index that provides it. */
export const orderOf = (list: RecordList): RawBuilder<unknown> =>
  list.order === "content" ? sql`content_head ${sql.raw(list.direction)}, ${sortedBy(list)}` : sortedBy(list);
