import type { DatabaseSync } from "node:sqlite";
import { matchesSince, blockRows, newestOfBlocks } from "#events/blocks/block-reads.ts";
import { both, fromRows, selectSql } from "#events/sql/row-sql.ts";
import type { EventTable, EventTables } from "#events/rows/rows.ts";
import { decodeRow } from "#events/rows/schema.ts";
import { type Sql, type Where, whereSql } from "#events/sql/where-sql.ts";

export interface RowsSinceQuery<T extends EventTable> {
  readonly where: Where<T>;
  /** The last row that was read, whether or not it matched. */
  readonly afterRow: number;
  /** Number of rows to return; the next call returns other matching rows. */
  readonly rowsMax: number;
  /** Limit of the text of these rows, approximately as JSON; one row is returned regardless of its length. */
  readonly unitsMax: number;
  /** Rows of all tenants that one call reads. */
  readonly lookedAtMax: number;
  /** Rows of all tenants that a reader may be behind; if more have arrived, the older ones are skipped. */
  readonly behindMax: number;
}

export interface RowsSince<T extends EventTable> {
  readonly rows: readonly EventTables[T][];
  /** The last row that was read. */
  readonly lastRow: number;
  /** Whether more rows have arrived than were read. */
  readonly hasMore: boolean;
  /** Number of skipped matching rows that were counted. */
  readonly passedOver: number;
  /** Whether some skipped rows were not counted. */
  readonly isAtLeast: boolean;
}

export const NO_NEW_ROWS = { rows: [], hasMore: false, passedOver: 0, isAtLeast: false } as const;

export function readRowsSince<T extends EventTable>(
  db: DatabaseSync,
  table: T,
  { where, afterRow, rowsMax, unitsMax, lookedAtMax, behindMax }: RowsSinceQuery<T>,
): RowsSince<T> {
  const newest = lastRow(db, table);
  // A new file counts from the beginning.
  const after = afterRow > newest ? 0 : afterRow;
  const from = Math.max(after, newest - behindMax);
  const end = Math.min(newest, from + lookedAtMax);
  if (from === end) return { ...NO_NEW_ROWS, lastRow: newest };
  const condition = whereSql(db, table, where as Where);
  const between = (first: number, last: number): Sql =>
    fromRows(table, both(condition, { sql: "row_id > ? AND row_id <= ?", values: [first, last] }));
  const { sql, values } = selectSql(table, between(from, end));
  const whole = blockRows(db, table);
  const matches = [...matchesSince(db, table, where as Where, from, end).take(rowsMax + 1)];
  const found = db
    .prepare(`${sql} ORDER BY t.row_id LIMIT ?`)
    .all(...values, rowsMax + 1)
    .map((row) => ({ row_id: Number(row["row_id"]), row: () => decodeRow(table, row) }))
    .concat(matches.map((match) => ({ row_id: match.row_id, row: () => whole(match) })))
    .sort((a, b) => a.row_id - b.row_id);
  const rows: EventTables[T][] = [];
  for (let units = 0; rows.length < Math.min(found.length, rowsMax) && units < unitsMax; units += lengthOfRow(rows.at(-1)!))
    rows.push(found[rows.length]!.row());
  const lookedAt = found.length > rows.length ? (found[rows.length - 1]?.row_id ?? from) : end;
  const countedFrom = Math.max(after, from - COUNTED_ROWS_MAX);
  return {
    rows,
    lastRow: lookedAt,
    hasMore: lookedAt < newest,
    passedOver: from === after ? 0 : countArrived(db, table, where as Where, between, countedFrom, from),
    isAtLeast: countedFrom > after,
  };
}

/** Units of a row besides its texts: names, numbers and punctuation of JSON. */
const ROW_UNITS = 500;

export const lengthOfRow = (row: object): number =>
  Object.values(row).reduce(
    (units: number, cell: unknown) => units + (typeof cell === "string" ? cell.length : isObject(cell) ? JSON.stringify(cell).length : 0),
    ROW_UNITS,
  );

const isObject = (cell: unknown): cell is object => typeof cell === "object" && cell !== null;

function countArrived(
  db: DatabaseSync,
  table: EventTable,
  where: Where,
  between: (first: number, end: number) => Sql,
  after: number,
  last: number,
): number {
  const passed = between(after, last);
  let count = Number(db.prepare(`SELECT COUNT(*) AS n FROM ${passed.sql}`).get(...passed.values)?.["n"]);
  for (const _ of matchesSince(db, table, where, after, last)) count++;
  return count;
}

/** Rows that are read to count the skipped ones. */
const COUNTED_ROWS_MAX = 100_000;

/** The number of the newest row; 0 without rows. */
export const lastRow = (db: DatabaseSync, table: EventTable): number =>
  Math.max(Number(db.prepare(`SELECT IFNULL(MAX(row_id), 0) AS n FROM ${table}`).get()?.["n"]), newestOfBlocks(db, table).row);
