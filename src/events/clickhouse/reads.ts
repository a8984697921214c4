import { PlatformError } from "#kernel/errors/errors.ts";
import type { PageQuery, RowPage } from "#events/read/queries.ts";
import type { EventReads } from "#events/read/read-client.ts";
import { isSome } from "#events/read/group-order.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { columnsOf, decodeRow } from "#events/rows/schema.ts";
import type { Group, GroupQuery } from "#events/sql/group-query.ts";
import type { Where } from "#events/sql/where-sql.ts";
import { arrivedRows, newestRow } from "./arrivals.ts";
import { type ClickHouse, ClickHouseFailure } from "./connection.ts";
import { groupStatement } from "./groups.ts";
import { type ClickHouseTable, isInClickHouse, tableName } from "./tables.ts";
import { countedValues } from "./values.ts";
import { clickHouseWhere, createBinder } from "./where.ts";

export interface ClickHouseReadsDeps {
  readonly server: ClickHouse;
  /** The embedded database, which has the other tables. */
  readonly local: EventReads;
  nowMs(): number;
  failed(question: string, reason: string): void;
}

/** Tables that were never made have no rows yet. */
const UNKNOWN_TABLE = 60;

/** Answers the queries of EventReads from ClickHouse. Throws `database_unavailable` if it is away or too slow. */
export function createClickHouseReads({ server, local, nowMs, failed }: ClickHouseReadsDeps): EventReads {
  const ask = async <R>(question: string, empty: R, work: () => Promise<R>): Promise<R> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ClickHouseFailure)) throw error;
      if (error.code === UNKNOWN_TABLE) return empty;
      failed(question, error.message);
      throw new PlatformError("database_unavailable", { cause: error });
    }
  };
  return {
    page: (table, query) =>
      isInClickHouse(table)
        ? ask("page", NO_ROWS, () => readPage(server, table, query as PageQuery<typeof table>))
        : local.page(table, query),
    arrivals: (table, query) =>
      isInClickHouse(table)
        ? ask("arrivals", { ...NOTHING_NEW, lastRow: query.afterRow }, () => arrivedRows(server, table, query, nowMs()))
        : local.arrivals(table, query),
    lastRow: (table) => (isInClickHouse(table) ? ask("lastRow", 0, () => newestRow(server, table, nowMs())) : local.lastRow(table)),
    groups: (table, query) =>
      isInClickHouse(table) ? ask("groups", [], () => readGroups(server, table, query as GroupQuery)) : local.groups(table, query),
    values: (_table, query) =>
      ask("values", { fromMs: query.fromMs, toMs: query.toMs, events: 0, values: [] }, () => countedValues(server, query)),
  };
}

const NO_ROWS = { rows: [], last: null, hasMore: false } as const;
const NOTHING_NEW = { rows: [], hasMore: false, passedOver: 0, isAtLeast: false } as const;

async function readPage<T extends EventTable>(server: ClickHouse, table: T & ClickHouseTable, query: PageQuery<T>): Promise<RowPage<T>> {
  const { after, limit, offset = 0, direction = "desc" } = query;
  const binder = createBinder();
  const conditions = [clickHouseWhere(table, query.where as Where, binder)];
  if (after !== undefined) {
    const [way, atMs, rowId] = [direction === "asc" ? ">" : "<", binder.bind("Int64", after.at_ms), binder.bind("Int64", after.row_id)];
    // The first comparison reads the index; the second one orders rows of one moment.
    conditions.push(`(at_ms ${way}= ${atMs}) AND (at_ms ${way} ${atMs} OR row_id ${way} ${rowId})`);
  }
  const columns = columnsOf(table).map(({ name }) => name);
  const order = direction === "asc" ? "at_ms, row_id" : "at_ms DESC, row_id DESC";
  const found = await server.rows(
    `SELECT row_id, ${columns.join(", ")} FROM ${tableName(table)} WHERE ${conditions.join(" AND ")} ORDER BY ${order} LIMIT ${binder.bind("UInt64", limit + 1)} OFFSET ${binder.bind("UInt64", offset)}`,
    binder.params,
  );
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows: rows.map((row) => decodeRow(table, row)),
    last: last === undefined ? null : { at_ms: Number(last["at_ms"]), row_id: Number(last["row_id"]) },
    hasMore: found.length > limit,
  };
}

async function readGroups(server: ClickHouse, table: ClickHouseTable, query: GroupQuery): Promise<readonly Group[]> {
  const { sql, params } = groupStatement(table, query);
  const rows = await server.rows(sql, params);
  return rows.filter(isSome).map((row) => ({
    count: Number(row["n"]),
    dimensions: query.by.map((_, i) => row[`d${i}`] as string | number | null),
    measures: query.measures.map((_, i) => Number(row[`m${i}`] ?? 0)),
    sampleInterval: 1,
  }));
}
