import { type Kysely, type RawBuilder, sql, type SqlBool } from "kysely";
import { type DnsRecordRow, RECORD_COLUMNS } from "#store/dns-records.ts";
import { ALWAYS, driver, judging, type RecordTest } from "#store/record-conditions.ts";
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

/**
 * One page of a zone's records, and how many there are. No statistics are needed: a filter that finds few is
 * answered from its index and sorted; one that finds many, from the index of the order, where the next match is
 * never far. Between the two lies √(end of page × records in the zone), at which both read as many rows. Whatever
 * may read more than that runs on `store.scan`, where nobody else waits for it.
 */
export async function listRecords(store: Store, list: RecordList, window: ListWindow): Promise<FoundRecords> {
  if (list.test === null) {
    const quick = ORDERED_BY_INDEX.has(list.order);
    return { items: await inOrder(quick ? store.read : store.scan, list, window), total: window.records };
  }
  const { known_total } = window;
  const fewMax = Math.ceil(Math.sqrt(Math.min(window.offset + window.limit, window.records) * window.records));
  const many = known_total !== null && known_total > fewMax;
  const few = driver(list.test, list.zone_id, fewMax);
  const rest = few?.complete ? ALWAYS : judging(list.test);
  if (few && !many) {
    const found = await fewFound(store.read, list, window, { candidates: few.condition, rest, max: fewMax });
    if (found) return found;
  }
  const all = sql<SqlBool>`${driver(list.test, list.zone_id, null)?.condition ?? ofZone(list)} AND ${rest}`;
  if (!few?.complete && !many) {
    const found = await fewFound(store.scan, list, window, { candidates: all, rest: ALWAYS, max: fewMax });
    if (found) return found;
  }
  const total = known_total ?? (await countRecords(store.scan, all));
  return { items: await inOrder(store.scan, list, window), total };
}

/** What a count of the zone's records holds for: any change of a record raises the serial. */
export const zoneState = (db: Kysely<Tables>, zoneId: string): Promise<{ serial: number; record_count: number } | undefined> =>
  db.selectFrom("zones").select(["serial", "record_count"]).where("id", "=", zoneId).executeTakeFirst();

const ORDERED_BY_INDEX: ReadonlySet<RecordList["order"]> = new Set(["name", "type", "content"]);

const ofZone = ({ zone_id }: RecordList): RawBuilder<SqlBool> => sql`zone_id = ${zone_id}`;

const columns = sql.join(RECORD_COLUMNS.map((column) => sql.ref(column)));

/** Finds the candidates by their index, then keeps, sorts and counts what else fits; null where there are more than `max`. */
async function fewFound(
  db: Kysely<Tables>,
  list: RecordList,
  { limit, offset }: ListWindow,
  { candidates, rest, max }: { readonly candidates: RawBuilder<SqlBool>; readonly rest: RawBuilder<SqlBool>; readonly max: number },
): Promise<FoundRecords | null> {
  // The counts stand in one row, beside which the page may be empty.
  const { rows } = await sql<DnsRecordRow & Counts>`
    WITH candidate AS MATERIALIZED (
      SELECT ${columns}, comment_key FROM dns_records WHERE ${candidates} LIMIT ${max + 1}
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

async function inOrder(db: Kysely<Tables>, list: RecordList, { limit, offset }: ListWindow): Promise<readonly DnsRecordRow[]> {
  const { rows } = await sql<DnsRecordRow>`
    SELECT ${columns} FROM dns_records WHERE ${ofZone(list)} AND ${list.test === null ? ALWAYS : judging(list.test)}
    ORDER BY ${orderOf(list)} LIMIT ${limit} OFFSET ${offset}`.execute(db);
  return rows;
}

async function countRecords(db: Kysely<Tables>, condition: RawBuilder<SqlBool>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM dns_records WHERE ${condition}`.execute(db);
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
