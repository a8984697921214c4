import { DatabaseSync } from "node:sqlite";
import { type RowsSinceQuery, type RowsSince, lastRow, NO_NEW_ROWS, readRowsSince } from "./rows-since.ts";
import { countMatches, firstMatches, firstPositions, inDirection, type MatchQuery } from "#events/blocks/block-reads.ts";
import { createEventConnection } from "#events/database/connection.ts";
import { readGroups } from "./group-sql.ts";
import type { Group, GroupQuery } from "#events/sql/group-query.ts";
import { type CountedValues, readValueCounts, type ValueQuery } from "./value-counts.ts";
import { timeLowerBound } from "./time-lower-bound.ts";
import { inNetwork } from "#events/sql/in-network.ts";
import type { EventTable, EventTables } from "#events/rows/rows.ts";
import { both, fromRows, NOTHING, selectSql } from "#events/sql/row-sql.ts";
import { decodeRow } from "#events/rows/schema.ts";
import { type Sql, type Where, whereSql } from "#events/sql/where-sql.ts";

export interface EventQuery<T extends EventTable> {
  readonly where: Where<T>;
  /** Default: newest first; rows that compare equal are ordered by arrival. */
  readonly direction?: "asc" | "desc";
  readonly limit: number;
  readonly offset?: number;
}

/** Position of a row: its time, and its order of arrival among rows of that time. */
export interface RowPosition {
  readonly at_ms: number;
  readonly row_id: number;
}

export interface PageQuery<T extends EventTable> {
  readonly where: Where<T>;
  /** Default: newest first. */
  readonly direction?: "asc" | "desc";
  /** The last row of the previous page. */
  readonly after?: RowPosition | undefined;
  readonly limit: number;
  /** Rows to skip first. */
  readonly offset?: number;
}

export interface RowPage<T extends EventTable> {
  readonly rows: readonly EventTables[T][];
  /** Position of the last row; null without one. */
  readonly last: RowPosition | null;
  /** Whether more rows follow. */
  readonly hasMore: boolean;
}

/** Reads events for control. A database that does not exist yet is treated as empty. */
export interface EventQueries {
  list<T extends EventTable>(table: T, query: EventQuery<T>): readonly EventTables[T][];
  count<T extends EventTable>(table: T, where: Where<T>): number;
  /** By time. A page costs the same regardless of the number of rows before it. */
  page<T extends EventTable>(table: T, query: PageQuery<T>): RowPage<T>;
  /** Rows that have arrived since, in order of arrival. */
  arrivals<T extends EventTable>(table: T, query: RowsSinceQuery<T>): RowsSince<T>;
  /** The number of the newest row; 0 without rows. */
  lastRow(table: EventTable): number;
  /**
   * Rows counted by dimensions. Answered exactly from roll-ups if these contain the requested columns; otherwise from
   * rows, of which every n-th is read if they are very many and represents those in between: the work stays bounded.
   */
  groups<T extends EventTable>(table: T, query: GroupQuery<T>): readonly Group[];
  /** The values in events of sensitive data, by whole hours. */
  values(table: "security_events", query: ValueQuery): CountedValues;
  close(): void;
}

export function openEventQueries(path: string): EventQueries {
  const connection = createEventConnection(path, () => {
    const opened = new DatabaseSync(path, { readOnly: true });
    opened.exec("PRAGMA busy_timeout = 1000");
    opened.function("in_network", { deterministic: true }, inNetwork);
    return opened;
  });
  const read = <R>(empty: R, work: (open: DatabaseSync) => R): R => connection.run(empty, (open) => asOfOneMoment(open, () => work(open)));

  return {
    list: (table, query) => read([], (open) => readWithin(open, table, query, query.where as Where).rows),
    count: (table, where) =>
      read(0, (open) => {
        const { sql, values } = whereSql(open, table, where as Where);
        const rows = open.prepare(`SELECT COUNT(*) AS n FROM ${table}${sql === "" ? "" : ` WHERE ${sql}`}`).get(...values);
        return Number(rows?.["n"]) + countMatches(open, table, where as Where);
      }),
    page: (table, query) => read(NO_ROWS, (open) => readPage(open, table, query)),
    arrivals: (table, query) => read({ ...NO_NEW_ROWS, lastRow: query.afterRow }, (open) => readRowsSince(open, table, query)),
    lastRow: (table) => read(0, (open) => lastRow(open, table)),
    groups: (table, query) => read([], (open) => readGroups(open, table, query as GroupQuery)),
    values: (_table, query) =>
      read({ fromMs: query.fromMs, toMs: query.fromMs, events: 0, values: [] }, (open) => readValueCounts(open, query)),
    close: connection.close,
  };
}

/** Rows are stored in two places, which must be read as of the same moment. */
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
  // Rows of the cursor's exact time may have been shown, so only older ones are certain.
  const older: Where = after === undefined ? where : [...where, { column: "at_ms", operator: "lt", value: after.at_ms }];
  const fromMs = timeLowerBound(db, table, older, offset + limit + 1);
  if (fromMs === undefined) return readWithin(db, table, query, where);
  const page = readWithin(db, table, query, [...where, { column: "at_ms", operator: "ge", value: fromMs }]);
  // Counts stay when rows are deleted, so the range may have fewer rows.
  return page.hasMore ? page : readWithin(db, table, query, where);
}

function readWithin<T extends EventTable>(
  db: DatabaseSync,
  table: T,
  { direction = "desc", after: given, limit, offset = 0 }: PageQuery<T>,
  where: Where,
): RowPage<T> {
  const after = offset === 0 ? given : placeOf(db, table, where, { direction, after: given, wanted: offset });
  if (offset > 0 && after === undefined) return NO_ROWS;
  const { sql, values } = selectSql(table, fromRows(table, both(whereSql(db, table, where), behind(after, direction))));
  const wanted = limit + 1;
  const found = db
    .prepare(`${sql}${timeOrder(direction)} LIMIT ?`)
    .all(...values, wanted)
    .map((row): Placed<T> => ({ at_ms: Number(row["at_ms"]), row_id: Number(row["row_id"]), row: () => decodeRow(table, row) }))
    .concat(firstMatches(db, table, [...where, ...timeBehind(after, direction)], { direction, after, wanted }))
    .sort(inDirection(direction))
    .slice(0, wanted);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows: rows.map(({ row }) => row()),
    last: last === undefined ? null : { at_ms: last.at_ms, row_id: last.row_id },
    hasMore: found.length > limit,
  };
}

const NO_ROWS = { rows: [], last: null, hasMore: false } as const;

/** Position of the last of that many rows; undefined if the table has fewer. */
function placeOf(db: DatabaseSync, table: EventTable, where: Where, query: MatchQuery): RowPosition | undefined {
  const { direction, after, wanted } = query;
  const { sql, values } = fromRows(table, both(whereSql(db, table, where), behind(after, direction)));
  return db
    .prepare(`SELECT at_ms, row_id FROM ${sql}${timeOrder(direction)} LIMIT ?`)
    .all(...values, wanted)
    .map((row): RowPosition => ({ at_ms: Number(row["at_ms"]), row_id: Number(row["row_id"]) }))
    .concat(firstPositions(db, table, [...where, ...timeBehind(after, direction)], query))
    .sort(inDirection(direction))[wanted - 1];
}

const timeOrder = (direction: "asc" | "desc"): string =>
  direction === "asc" ? " ORDER BY t.at_ms, t.row_id" : " ORDER BY t.at_ms DESC, t.row_id DESC";

const behind = (after: RowPosition | undefined, direction: "asc" | "desc"): Sql =>
  after === undefined ? NOTHING : { sql: `(at_ms, row_id) ${direction === "asc" ? ">" : "<"} (?, ?)`, values: [after.at_ms, after.row_id] };

/** Blocks of other times cannot contain rows after this one and are not read. */
function timeBehind(after: RowPosition | undefined, direction: "asc" | "desc"): Where {
  return after === undefined ? [] : [{ column: "at_ms", operator: direction === "asc" ? "ge" : "le", value: after.at_ms }];
}

/** A row, built on demand. */
interface Placed<T extends EventTable> extends RowPosition {
  row(): EventTables[T];
}
