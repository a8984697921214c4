import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { ALL_TOKENS } from "#events/rows/computed-columns.ts";
import { createEventConnection } from "#events/database/connection.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { decodeRow, EVENT_SCHEMA } from "#events/rows/schema.ts";
import type { Sql } from "#events/sql/where-sql.ts";
import { FIRST_NODE_SEGMENT, logSegmentsOf, segmentPath } from "#events/logs/segment.ts";
import { createLogBodyStore, type LogBodies } from "#events/logs/bodies.ts";
import { filtersSql, type LogFilter } from "#events/logs/filters.ts";
import { segmentsIn } from "#events/logs/indexer.ts";
import { openSegmentReader } from "#events/logs/reader.ts";

/** Owner of the logs: every read needs both. */
export interface LogScope {
  readonly account_id: string;
  readonly gateway_id: string;
  /** Creation time of the gateway in milliseconds: older rows belong to a former gateway of that name. Absent: all. */
  readonly since_ms?: number;
}

export interface LogQuery {
  readonly filters: readonly LogFilter[];
  /** Part of the id, provider, model, path, event or metadata, case-insensitive; empty for all. */
  readonly search: string;
  readonly orderBy: LogOrder;
  readonly direction: "asc" | "desc";
  readonly limit: number;
  readonly offset: number;
}

/** Columns by the names that callers use for ordering. */
const ORDER_COLUMNS = {
  created_at: "at_ms",
  provider: "provider",
  model: "model",
  model_type: "model_type",
  success: "success",
  cached: "cached",
  cost: "cost",
  tokens_in: "tokens_in",
  tokens_out: "tokens_out",
  duration: "duration_ms",
  feedback: "feedback",
} as const;
export type LogOrder = keyof typeof ORDER_COLUMNS;

/** Minimum and maximum of the matching rows; null if no row has a value. */
export interface LogBounds {
  readonly min_cost: number | null;
  readonly max_cost: number | null;
  readonly min_duration: number | null;
  readonly max_duration: number | null;
  readonly min_tokens_in: number | null;
  readonly max_tokens_in: number | null;
  readonly min_tokens_out: number | null;
  readonly max_tokens_out: number | null;
  readonly min_total_tokens: number | null;
  readonly max_total_tokens: number | null;
}

/** Averages for evaluations: null if no row has a value. */
export interface LogAverages {
  readonly rows: number;
  readonly cost: number | null;
  readonly duration: number | null;
  readonly liked: number;
  readonly rated: number;
}

export interface LogChange {
  readonly feedback?: number | null;
  readonly score?: number | null;
  /** JSON text; empty for none. */
  readonly metadata?: string;
}

/**
 * The logs of gateways for control: it reads, and it applies later changes and deletions by callers. Throws RangeError
 * for invalid filters. A database that does not exist yet is treated as empty.
 */
export interface GatewayLogStore {
  list(scope: LogScope, query: LogQuery): readonly GatewayLogRow[];
  count(scope: LogScope, query: Pick<LogQuery, "filters" | "search">): number;
  bounds(scope: LogScope, query: Pick<LogQuery, "filters" | "search">): LogBounds;
  /** Averages of the rows that match one of the lists of filters; over the newest ones, so that the work is bounded. */
  averages(scope: LogScope, alternatives: readonly (readonly LogFilter[])[]): LogAverages;
  get(scope: LogScope, id: string): GatewayLogRow | undefined;
  /** Null if the row has none, or no longer. */
  bodies(row: GatewayLogRow): LogBodies | null;
  /** False if the row does not exist. */
  change(scope: LogScope, id: string, change: LogChange): boolean;
  /** Deletes rows and bodies, a few at a time, so that other work does not wait. Returns the number of rows. */
  delete(scope: LogScope, query: Pick<LogQuery, "filters" | "orderBy" | "direction" | "limit">): Promise<number>;
  /** End of the written logs that have not been read into the list yet; undefined if all have been read. */
  unread(): LogMark | undefined;
  /** Whether the list contains all logs written up to the mark. */
  hasRead(mark: LogMark): boolean;
  close(): void;
}

/** A place in the segments. */
export interface LogMark {
  readonly segment: number;
  readonly at: number;
}

const SEARCHED = ["id", "provider", "model", "path", "event_id", "metadata"] as const;
const DELETED_AT_ONCE = 500;
/** About 0.5 s of work. */
const AVERAGED_ROWS_MAX = 200_000;

const COLUMNS = EVENT_SCHEMA.gateway_logs.columns.map((column) => column.name).join(", ");
const BOUNDED = {
  cost: "cost",
  duration: "duration_ms",
  tokens_in: "tokens_in",
  tokens_out: "tokens_out",
  total_tokens: ALL_TOKENS,
} as const;
const BOUND_COLUMNS = Object.entries(BOUNDED)
  .map(([name, sql]) => `MIN(${sql}) AS min_${name}, MAX(${sql}) AS max_${name}`)
  .join(", ");
const NO_BOUNDS = Object.fromEntries(
  Object.keys(BOUNDED).flatMap((name) => [
    [`min_${name}`, null],
    [`max_${name}`, null],
  ]),
) as unknown as LogBounds;
const NO_AVERAGES: LogAverages = { rows: 0, cost: null, duration: null, liked: 0, rated: 0 };

export function openGatewayLogStore(eventsPath: string): GatewayLogStore {
  const directory = logSegmentsOf(eventsPath);
  const bodies = createLogBodyStore(directory);
  // The writer's transactions are short, and so are those here.
  const connection = createEventConnection(eventsPath, () => {
    const opened = new DatabaseSync(eventsPath);
    opened.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL");
    return opened;
  });
  const { run } = connection;

  return {
    list: (scope, query) =>
      run([], (db) => {
        const { sql, values } = whereSql(scope, query);
        return db
          .prepare(`SELECT ${COLUMNS} FROM gateway_logs WHERE ${sql} ORDER BY ${orderSql(query)} LIMIT ? OFFSET ?`)
          .all(...values, query.limit, query.offset)
          .map((row) => decodeRow("gateway_logs", row));
      }),
    count: (scope, query) =>
      run(0, (db) => {
        if (query.filters.length === 0 && query.search === "") {
          const known = db
            .prepare("SELECT rows FROM gateway_log_counts WHERE account_id = ? AND gateway_id = ?")
            .get(scope.account_id, scope.gateway_id);
          if (known !== undefined && !hasOlder(db, scope)) return Number(known["rows"]);
        }
        const { sql, values } = whereSql(scope, query);
        return Number(db.prepare(`SELECT COUNT(*) AS n FROM gateway_logs WHERE ${sql}`).get(...values)?.["n"]);
      }),
    bounds: (scope, query) =>
      run(NO_BOUNDS, (db) => {
        const { sql, values } = whereSql(scope, query);
        return { ...db.prepare(`SELECT ${BOUND_COLUMNS} FROM gateway_logs WHERE ${sql}`).get(...values) } as unknown as LogBounds;
      }),
    averages: (scope, alternatives) =>
      run(NO_AVERAGES, (db) => {
        const fitting = alternatives.map(filtersSql);
        const sql = `${SCOPE} AND (${fitting.map((one) => one.sql).join(" OR ") || "0"})`;
        const values = [...scopeValues(scope), ...fitting.flatMap((one) => one.values)];
        const found = db
          .prepare(
            `SELECT COUNT(*) AS rows, AVG(cost) AS cost, AVG(duration_ms) AS duration, IFNULL(SUM(feedback > 0), 0) AS liked, COUNT(NULLIF(feedback, 0)) AS rated FROM (SELECT cost, duration_ms, feedback FROM gateway_logs WHERE ${sql} ORDER BY at_ms DESC LIMIT ${AVERAGED_ROWS_MAX})`,
          )
          .get(...values);
        return { ...found } as unknown as LogAverages;
      }),
    get: (scope, id) =>
      run(undefined, (db) => {
        const row = db.prepare(`SELECT ${COLUMNS} FROM gateway_logs WHERE id = ? AND ${SCOPE}`).get(id, ...scopeValues(scope));
        return row === undefined ? undefined : decodeRow("gateway_logs", row);
      }),
    bodies: ({ segment = null, segment_at = null }) =>
      segment === null || segment_at === null ? null : bodies.read({ segment, at: segment_at }),
    change: (scope, id, change) =>
      run(false, (db) => {
        const entries = Object.entries(change) as [string, SQLInputValue][];
        const set = entries.map(([column]) => `${column} = ?`).join(", ") || "id = id";
        const values = entries.map(([, value]) => value);
        const statement = db.prepare(`UPDATE gateway_logs SET ${set} WHERE id = ? AND ${SCOPE}`);
        return Number(statement.run(...values, id, ...scopeValues(scope)).changes) > 0;
      }),
    delete: async (scope, query) => {
      let deleted = 0;
      for (;;) {
        const limit = Math.min(DELETED_AT_ONCE, query.limit - deleted);
        const some = limit > 0 ? run(0, (db) => deleteSome(db, scope, { ...query, limit }, bodies.erase)) : 0;
        deleted += some;
        if (some === 0) return deleted;
        await turn();
      }
    },
    unread: () => {
      const segment = segmentsIn(directory).at(-1);
      if (segment === undefined) return undefined;
      const readTo = run(0, (db) =>
        Number(db.prepare("SELECT read_to FROM gateway_segments WHERE segment = ?").get(segment)?.["read_to"] ?? 0),
      );
      return endOfRecords(directory, segment, readTo);
    },
    hasRead: ({ segment, at }) =>
      run(true, (db) => {
        const last = db
          .prepare(`SELECT segment, read_to FROM gateway_segments WHERE segment < ${FIRST_NODE_SEGMENT} ORDER BY segment DESC LIMIT 1`)
          .get();
        return last !== undefined && (Number(last["segment"]) > segment || (last["segment"] === segment && Number(last["read_to"]) >= at));
      }),
    close: connection.close,
  };
}

/** Undefined if no record follows. */
function endOfRecords(directory: string, segment: number, readTo: number): LogMark | undefined {
  const size = statSync(segmentPath(directory, segment), { throwIfNoEntry: false })?.size ?? 0;
  const reader = size > readTo ? openSegmentReader(directory, segment) : undefined;
  if (reader === undefined) return undefined;
  const { records, next } = reader.read(readTo);
  reader.close();
  return records.length === 0 ? undefined : { segment, at: next };
}

/** Deleted rows are erased from the disk before they are removed from the list. */
function deleteSome(
  db: DatabaseSync,
  scope: LogScope,
  query: Pick<LogQuery, "filters" | "orderBy" | "direction" | "limit">,
  erase: (places: readonly { segment: number; at: number }[]) => void,
): number {
  const { sql, values } = whereSql(scope, { filters: query.filters, search: "" });
  const rows = db
    .prepare(`SELECT row_id, segment, segment_at FROM gateway_logs WHERE ${sql} ORDER BY ${orderSql(query)} LIMIT ?`)
    .all(...values, query.limit);
  if (rows.length === 0) return 0;
  erase(rows.flatMap((row) => (row["segment"] === null ? [] : [{ segment: Number(row["segment"]), at: Number(row["segment_at"]) }])));
  const ids = rows.map((row) => Number(row["row_id"]));
  return Number(db.prepare(`DELETE FROM gateway_logs WHERE row_id IN (${ids.map(() => "?").join(", ")})`).run(...ids).changes);
}

const SCOPE = "account_id = ? AND gateway_id = ? AND at_ms >= ?";
const scopeValues = ({ account_id, gateway_id, since_ms = 0 }: LogScope): [string, string, number] => [account_id, gateway_id, since_ms];

/** Whether rows remain of a former gateway of that name. */
const hasOlder = (db: DatabaseSync, { account_id, gateway_id, since_ms = 0 }: LogScope): boolean =>
  since_ms > 0 &&
  db
    .prepare("SELECT 1 FROM gateway_logs WHERE account_id = ? AND gateway_id = ? AND at_ms < ? LIMIT 1")
    .get(account_id, gateway_id, since_ms) !== undefined;

function orderSql({ orderBy, direction }: Pick<LogQuery, "orderBy" | "direction">): string {
  const way = direction === "asc" ? "ASC" : "DESC";
  return [ORDER_COLUMNS[orderBy], "at_ms", "row_id"].map((column) => `${column} ${way}`).join(", ");
}

function whereSql(scope: LogScope, { filters, search }: Pick<LogQuery, "filters" | "search">): Sql {
  const filtered = filtersSql(filters);
  const searched = search === "" ? "" : ` AND (${SEARCHED.map((column) => `instr(lower(${column}), lower(?)) > 0`).join(" OR ")})`;
  return {
    sql: `${SCOPE} AND ${filtered.sql}${searched}`,
    values: [...scopeValues(scope), ...filtered.values, ...(search === "" ? [] : SEARCHED.map(() => search))],
  };
}
