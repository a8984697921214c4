import type { RowsSince, RowsSinceQuery } from "#events/read/rows-since.ts";
import { lengthOfRow } from "#events/read/rows-since.ts";
import type { EventTable, EventTables } from "#events/rows/rows.ts";
import { columnsOf, decodeRow } from "#events/rows/schema.ts";
import type { Where } from "#events/sql/where-sql.ts";
import type { ClickHouse } from "./connection.ts";
import { firstRowAt } from "./row-ids.ts";
import { type ClickHouseTable, tableName } from "./tables.ts";
import { clickHouseWhere, createBinder } from "./where.ts";

/** Rows of several servers arrive beside one another, and not quite in the order of their numbers: these are left to the next look. */
export const SETTLED_MS = 2_000;
/** A reader of new rows begins with those of the last minutes. */
const RECENT_MS = 600_000;

/** The number of the newest row, or that of a time before which there is none. */
export async function newestRow(server: ClickHouse, table: ClickHouseTable, nowMs: number): Promise<number> {
  const binder = createBinder();
  const recent = firstRowAt(nowMs - RECENT_MS);
  const [row] = await server.rows(
    `SELECT max(row_id) AS last FROM ${tableName(table)} WHERE row_id > ${binder.bind("Int64", recent)}`,
    binder.params,
  );
  return Math.max(recent, Number(row?.["last"] ?? 0));
}

/**
 * Rows that have arrived since, in the order of their numbers. The limits count matching rows only: ClickHouse finds them without those of other
 * tenants.
 */
export async function arrivedRows<T extends EventTable>(
  server: ClickHouse,
  table: T & ClickHouseTable,
  { where, afterRow, rowsMax, unitsMax, behindMax }: RowsSinceQuery<T>,
  nowMs: number,
): Promise<RowsSince<T>> {
  const newest = await newestRow(server, table, nowMs);
  // A clock that was set back makes numbers of the future, which are settled.
  const settled = newest > firstRowAt(nowMs) ? newest : Math.min(newest, firstRowAt(nowMs - SETTLED_MS));
  if (settled <= afterRow) return { rows: [], lastRow: afterRow, hasMore: false, passedOver: 0, isAtLeast: false };
  const read = (select: string, order: string, after: number, to: number) => {
    const binder = createBinder();
    const condition = clickHouseWhere(table, where as Where, binder);
    const range = `row_id > ${binder.bind("Int64", after)} AND row_id <= ${binder.bind("Int64", to)}`;
    return server.rows(`SELECT ${select} FROM ${tableName(table)} WHERE ${condition} AND ${range}${order}`, binder.params);
  };
  const [first] = await read("row_id", ` ORDER BY row_id DESC LIMIT 1 OFFSET ${Math.ceil(behindMax)}`, afterRow, settled);
  const from = first === undefined ? afterRow : Number(first["row_id"]);
  const passedOver = first === undefined ? 0 : Number((await read("count() AS n", "", afterRow, from))[0]?.["n"]);
  const columns = columnsOf(table).map(({ name }) => name);
  const found = await read(`row_id, ${columns.join(", ")}`, ` ORDER BY row_id LIMIT ${Math.ceil(rowsMax) + 1}`, from, settled);
  const rows: EventTables[T][] = [];
  for (let units = 0; rows.length < Math.min(found.length, rowsMax) && units < unitsMax; units += lengthOfRow(rows.at(-1)!))
    rows.push(decodeRow(table, found[rows.length]!));
  const hasMore = found.length > rows.length;
  return { rows, lastRow: hasMore ? Number(found[rows.length - 1]?.["row_id"] ?? from) : settled, hasMore, passedOver, isAtLeast: false };
}
