import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { PlatformError } from "#kernel/errors.ts";
import { arrivedMatches, blockRows, countMatches, firstMatches, newestOfBlocks } from "./blocks/block-reads.ts";
import { type Group, type GroupQuery, readGroups } from "./group-sql.ts";
import { newestReach } from "./newest-reach.ts";
import { inNetwork } from "./in-network.ts";
import { isDamaged } from "./repair.ts";
import type { EventTable, EventTables } from "./rows.ts";
import { columnsOf, decodeRow, EVENT_SCHEMA } from "./schema.ts";
import { facetJoins, facetsByColumn, joined, joinedColumn, type Sql, type Where, whereSql } from "./where-sql.ts";

export interface EventQuery<T extends EventTable> {
  readonly where: Where<T>;
  /** Newest first unless said; rows that agree are ordered by arrival. */
  readonly direction?: "asc" | "desc";
  readonly limit: number;
  readonly offset?: number;
}

/** Where a row stands: by its time, and among those of one time by arrival. */
export interface RowPosition {
  readonly at_ms: number;
  readonly row_id: number;
}

export interface PageQuery<T extends EventTable> {
  readonly where: Where<T>;
  /** Newest first unless said. */
  readonly direction?: "asc" | "desc";
  /** The last row of the page before. */
  readonly after?: RowPosition | undefined;
  readonly limit: number;
  /** Rows that are passed over first. */
  readonly offset?: number;
}

export interface RowPage<T extends EventTable> {
  readonly rows: readonly EventTables[T][];
  /** Of the last row; null where there is none. */
  readonly last: RowPosition | null;
  /** More follow. */
  readonly hasMore: boolean;
}

export interface ArrivalQuery<T extends EventTable> {
  readonly where: Where<T>;
  /** The last row that was looked at, whether or not it fitted. */
  readonly afterRow: number;
  /** Rows that are given; the others that fit are given to whoever asks again. */
  readonly rowsMax: number;
  /** Text of these, as JSON about; one row is given however long it is. */
  readonly unitsMax: number;
  /** Rows of all tenants that are looked at in one go. */
  readonly lookedAtMax: number;
  /** Rows of all tenants that a reader may be behind; where more have arrived, the older ones are passed over. */
  readonly behindMax: number;
}

export interface Arrivals<T extends EventTable> {
  readonly rows: readonly EventTables[T][];
  /** The last row that was looked at. */
  readonly lastRow: number;
  /** More have arrived than were looked at. */
  readonly hasMore: boolean;
  /** Rows that fit and were passed over, of those that were counted. */
  readonly passedOver: number;
  /** Not all that were passed over were counted. */
  readonly isAtLeast: boolean;
}

/** Reads events for control. A database that does not exist yet has no rows. */
export interface EventQueries {
  list<T extends EventTable>(table: T, query: EventQuery<T>): readonly EventTables[T][];
  count<T extends EventTable>(table: T, where: Where<T>): number;
  /** By time. A page costs the same however many came before it. */
  page<T extends EventTable>(table: T, query: PageQuery<T>): RowPage<T>;
  /** What has come since, in order of arrival. */
  arrivals<T extends EventTable>(table: T, query: ArrivalQuery<T>): Arrivals<T>;
  /** The row that arrived last; 0 where there is none. */
  lastRow(table: EventTable): number;
  /**
   * Rows counted by dimensions. Answered from roll-ups where these know what is asked for, exactly; otherwise from rows, and
   * of very many rows only every so manieth is read and counts for those between: the work stays bounded.
   */
  groups<T extends EventTable>(table: T, query: GroupQuery<T>): readonly Group[];
  close(): void;
}

export function openEventQueries(path: string): EventQueries {
  let db: DatabaseSync | null = null;
  /** Of the open file: the writer may have begun a new one. */
  let inode = 0;

  const reopen = (): DatabaseSync => {
    db?.close();
    db = null;
    const opened = new DatabaseSync(path, { readOnly: true });
    opened.exec("PRAGMA busy_timeout = 1000");
    opened.function("in_network", { deterministic: true }, inNetwork);
    inode = statSync(path).ino;
    return (db = opened);
  };

  /** Runs against the database, or gives `empty` as long as the writer has not made it. */
  const read = <R>(empty: R, work: (open: DatabaseSync) => R): R => {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined) return empty;
    try {
      const open = db !== null && file.ino === inode ? db : reopen();
      return asOfOneMoment(open, () => work(open));
    } catch (error) {
      if (isDamaged(error)) throw new PlatformError("database_damaged", { cause: error });
      if (!(error instanceof Error) || !MISSING.test(error.message)) throw error;
      return empty;
    }
  };

  return {
    list: (table, query) => read([], (open) => readWithin(open, table, query, query.where as Where).rows),
    count: (table, where) =>
      read(0, (open) => {
        const { sql, values } = whereSql(open, table, where as Where);
        const rows = open.prepare(`SELECT COUNT(*) AS n FROM ${table}${sql === "" ? "" : ` WHERE ${sql}`}`).get(...values);
        return Number(rows?.["n"]) + countMatches(open, table, where as Where);
      }),
    page: (table, query) => read({ rows: [], last: null, hasMore: false }, (open) => readPage(open, table, query)),
    arrivals: (table, query) => read({ ...NONE_ARRIVED, lastRow: query.afterRow }, (open) => readArrivals(open, table, query)),
    lastRow: (table) => read(0, (open) => lastRow(open, table)),
    groups: (table, query) => read([], (open) => readGroups(open, table, query as GroupQuery)),
    close: () => {
      db?.close();
      db = null;
    },
  };
}

/** The file is there before its tables are, and for a moment a file of an older version may be. */
const MISSING = /^no such (table|column)/;

/** Rows lie in two places, which have to tell of the same moment. */
function asOfOneMoment<R>(db: DatabaseSync, work: () => R): R {
  db.exec("BEGIN");
  try {
    return work();
  } finally {
    if (db.isTransaction) db.exec("ROLLBACK");
  }
}

function readPage<T extends EventTable>(db: DatabaseSync, table: T, query: PageQuery<T>): RowPage<T> {
  const { after, limit, offset = 0, direction } = query;
  const where = query.where as Where;
  if (direction === "asc") return readWithin(db, table, query, where);
  // Rows of the cursor's own time may have been shown: only older ones are counted on.
  const older: Where = after === undefined ? where : [...where, { column: "at_ms", operator: "lt", value: after.at_ms }];
  const fromMs = newestReach(db, table, older, offset + limit + 1);
  if (fromMs === undefined) return readWithin(db, table, query, where);
  const page = readWithin(db, table, query, [...where, { column: "at_ms", operator: "ge", value: fromMs }]);
  // Counts stay when rows go, so there may be fewer.
  return page.hasMore ? page : readWithin(db, table, query, where);
}

function readWithin<T extends EventTable>(
  db: DatabaseSync,
  table: T,
  { direction = "desc", after, limit, offset = 0 }: PageQuery<T>,
  where: Where,
): RowPage<T> {
  const [compared, order] = direction === "asc" ? [">", "ASC"] : ["<", "DESC"];
  const behind = after === undefined ? NOTHING : { sql: `(at_ms, row_id) ${compared} (?, ?)`, values: [after.at_ms, after.row_id] };
  const { sql, values } = selectSql(table, fromRows(table, both(whereSql(db, table, where), behind)));
  const wanted = offset + limit + 1;
  const matches = firstMatches(db, table, where, { direction, after, wanted });
  const found = db
    .prepare(`${sql} ORDER BY t.at_ms ${order}, t.row_id ${order} LIMIT ?`)
    .all(...values, wanted)
    .map((row): Placed<T> => ({ at_ms: Number(row["at_ms"]), row_id: Number(row["row_id"]), row: () => decodeRow(table, row) }))
    .concat(matches)
    .sort((a, b) => (a.at_ms - b.at_ms || a.row_id - b.row_id) * (direction === "asc" ? 1 : -1))
    .slice(offset, wanted);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows: rows.map(({ row }) => row()),
    last: last === undefined ? null : { at_ms: last.at_ms, row_id: last.row_id },
    hasMore: found.length > limit,
  };
}

/** A row, made once it is needed. */
interface Placed<T extends EventTable> extends RowPosition {
  row(): EventTables[T];
}

const NONE_ARRIVED = { rows: [], hasMore: false, passedOver: 0, isAtLeast: false } as const;

function readArrivals<T extends EventTable>(
  db: DatabaseSync,
  table: T,
  { where, afterRow, rowsMax, unitsMax, lookedAtMax, behindMax }: ArrivalQuery<T>,
): Arrivals<T> {
  const newest = lastRow(db, table);
  // A file begun anew counts from the beginning.
  const after = afterRow > newest ? 0 : afterRow;
  const from = Math.max(after, newest - behindMax);
  const end = Math.min(newest, from + lookedAtMax);
  if (from === end) return { ...NONE_ARRIVED, lastRow: newest };
  const condition = whereSql(db, table, where as Where);
  const between = (first: number, last: number): Sql =>
    fromRows(table, both(condition, { sql: "row_id > ? AND row_id <= ?", values: [first, last] }));
  const { sql, values } = selectSql(table, between(from, end));
  const whole = blockRows(db, table);
  const matches = [...arrivedMatches(db, table, where as Where, from, end).take(rowsMax + 1)];
  const found = db
    .prepare(`${sql} ORDER BY t.row_id LIMIT ?`)
    .all(...values, rowsMax + 1)
    .map((row) => ({ row_id: Number(row["row_id"]), row: () => decodeRow(table, row) }))
    .concat(matches.map((match) => ({ row_id: match.row_id, row: () => whole(match) })))
    .sort((a, b) => a.row_id - b.row_id);
  const rows: EventTables[T][] = [];
  for (let units = 0; rows.length < Math.min(found.length, rowsMax) && units < unitsMax; units += unitsOf(rows.at(-1)!))
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

/** Of a row beside its texts: names, numbers and marks of JSON. */
const ROW_UNITS = 500;

const unitsOf = (row: object): number =>
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
  for (const _ of arrivedMatches(db, table, where, after, last)) count++;
  return count;
}

/** Rows that are looked at to say how many were passed over. */
const COUNTED_ROWS_MAX = 100_000;

const NOTHING: Sql = { sql: "", values: [] };

const both = (a: Sql, b: Sql): Sql =>
  joined(
    [a, b].filter(({ sql }) => sql !== ""),
    " AND ",
  );

const lastRow = (db: DatabaseSync, table: EventTable): number =>
  Math.max(Number(db.prepare(`SELECT IFNULL(MAX(row_id), 0) AS n FROM ${table}`).get()?.["n"]), newestOfBlocks(db, table).row);

const fromRows = (table: EventTable, { sql, values }: Sql): Sql => ({
  sql: `(SELECT * FROM ${table}${sql === "" ? "" : ` WHERE ${sql}`}) AS t`,
  values,
});

/** Whole rows from what `from` calls `t`. */
function selectSql(table: EventTable, { sql, values }: Sql): Sql {
  const facetOf = facetsByColumn(table);
  const columns = columnsOf(table).map(({ name }) => `${joinedColumn(facetOf, name, "t")} AS ${name}`);
  return { sql: `SELECT t.row_id, ${columns.join(", ")} FROM ${sql}${facetJoins(EVENT_SCHEMA[table].facets, "t")}`, values };
}
