import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { createEventConnection } from "#events/database/connection.ts";
import { filtersSql, type LogFilter } from "#events/logs/filters.ts";
import { ALL_TOKENS } from "#events/rows/computed-columns.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { decodeRow, EVENT_SCHEMA } from "#events/rows/schema.ts";
import type { Sql } from "#events/sql/where-sql.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { fittingSql, inOrder, keysOf, type LogFitting, type LogKey, type LogQuery } from "./log-keys.ts";
import { logPieces, type LogScope, PIECE_LIMITS, type PieceLimits } from "./log-pieces.ts";

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

/** Where a row is in the table, and its bodies in the segments. */
export interface LogPlace {
  readonly row_id: number;
  readonly id: string;
  readonly segment: number | null;
  readonly at: number | null;
}

/**
 * Reads that may look at every row of a gateway: they run in a thread, in pieces. Throws RangeError for invalid filters, and
 * `gateway_input_invalid` for too many rows. A database that does not exist yet is treated as empty.
 */
export interface GatewayLogReads {
  list(scope: LogScope, query: LogQuery): Promise<readonly GatewayLogRow[]>;
  count(scope: LogScope, query: LogFitting): Promise<number>;
  bounds(scope: LogScope, query: LogFitting): Promise<LogBounds>;
  /** Averages of the rows that match one of the lists of filters; over the newest ones. */
  averages(scope: LogScope, alternatives: readonly (readonly LogFilter[])[]): Promise<LogAverages>;
  places(scope: LogScope, query: LogQuery): Promise<readonly LogPlace[]>;
}

const AVERAGED_ROWS_MAX = 200_000;
/** Keys that an order by another column than the time holds in memory. */
const SORTED_MAX = 100_000;
const READ_AT_ONCE = 500;

const COLUMNS = EVENT_SCHEMA.gateway_logs.columns.map((column) => column.name).join(", ");
const BOUNDED = {
  cost: "cost",
  duration: "duration_ms",
  tokens_in: "tokens_in",
  tokens_out: "tokens_out",
  total_tokens: ALL_TOKENS,
} as const;
const BOUND_NAMES = Object.keys(BOUNDED).flatMap((name) => [`min_${name}`, `max_${name}`]);
const BOUND_COLUMNS = Object.entries(BOUNDED)
  .map(([name, sql]) => `MIN(${sql}) AS min_${name}, MAX(${sql}) AS max_${name}`)
  .join(", ");
const SUMS =
  "COUNT(*) AS rows, SUM(cost) AS cost, COUNT(cost) AS costs, SUM(duration_ms) AS duration, COUNT(duration_ms) AS durations, " +
  "SUM(feedback > 0) AS liked, COUNT(NULLIF(feedback, 0)) AS rated";

type LogRow = Parameters<typeof decodeRow>[1];

export function openGatewayLogReads(eventsPath: string, limits: PieceLimits = PIECE_LIMITS): GatewayLogReads & { close(): void } {
  const { run, close } = createEventConnection(eventsPath, () => new DatabaseSync(eventsPath, { readOnly: true }));
  const first = (sql: string, values: readonly SQLInputValue[]) => run({}, (db) => ({ ...db.prepare(sql).get(...values) }));
  /** One row of numbers for each piece. */
  const sums = async function* (scope: LogScope, columns: string, filters: readonly LogFilter[], fitting: Sql) {
    for await (const piece of logPieces(run, scope, { filters, direction: "desc", limits }))
      yield first(`SELECT ${columns} FROM gateway_logs WHERE ${piece.sql} AND ${fitting.sql}`, [
        ...piece.values,
        ...fitting.values,
      ]) as Readonly<Record<string, number | null | undefined>>;
  };

  const keysByTime = async (scope: LogScope, query: LogQuery): Promise<readonly LogKey[]> => {
    const keys: LogKey[] = [];
    let skip = query.offset;
    const fitting = fittingSql(query);
    for await (const piece of logPieces(run, scope, { ...query, limits })) {
      const where = `FROM gateway_logs WHERE ${piece.sql} AND ${fitting.sql}`;
      const values = [...piece.values, ...fitting.values];
      const found = skip === 0 ? 0 : Number(first(`SELECT COUNT(*) AS n ${where}`, values)["n"] ?? 0);
      if (found > 0 || skip === 0) keys.push(...keysOf(run, where, values, query, { limit: query.limit - keys.length, offset: skip }));
      skip -= Math.min(skip, found);
      if (keys.length >= query.limit) return keys;
    }
    return keys;
  };
  const keysInOrder = async (scope: LogScope, query: LogQuery): Promise<readonly LogKey[]> => {
    const kept = query.offset + query.limit;
    if (kept > SORTED_MAX) throw new PlatformError("gateway_input_invalid", { message: TOO_DEEP, source: "/page" });
    let keys: LogKey[] = [];
    const fitting = fittingSql(query);
    for await (const piece of logPieces(run, scope, { ...query, limits })) {
      const where = `FROM gateway_logs WHERE ${piece.sql} AND ${fitting.sql}`;
      const more = keysOf(run, where, [...piece.values, ...fitting.values], query, { limit: kept, offset: 0 });
      if (more.length > 0) keys = [...keys, ...more].sort(inOrder(query.direction)).slice(0, kept);
    }
    return keys.slice(query.offset);
  };
  const keysFor = (scope: LogScope, query: LogQuery) => (query.orderBy === "created_at" ? keysByTime : keysInOrder)(scope, query);
  /** The rows with these keys, in their order; those that were deleted meanwhile are missing. */
  const rowsOf = (columns: string, keys: readonly LogKey[]) =>
    run<readonly LogRow[]>([], (db) => {
      const byId = new Map<number, LogRow>();
      for (let at = 0; at < keys.length; at += READ_AT_ONCE) {
        const ids = keys.slice(at, at + READ_AT_ONCE).map(([, , id]) => id);
        const sql = `SELECT row_id, ${columns} FROM gateway_logs WHERE row_id IN (${ids.map(() => "?").join(", ")})`;
        for (const row of db.prepare(sql).all(...ids)) byId.set(Number(row["row_id"]), row);
      }
      return keys.map(([, , id]) => byId.get(id)).filter((row) => row !== undefined);
    });

  return {
    list: async (scope, query) => {
      const keys = await keysFor(scope, query);
      return rowsOf(COLUMNS, keys).map((row) => decodeRow("gateway_logs", row));
    },
    count: async (scope, { filters, search }) => {
      const known = filters.length === 0 && search === "" ? run(0, (db) => knownCount(db, scope)) : undefined;
      if (known !== undefined) return known;
      let count = 0;
      for await (const { n } of sums(scope, "COUNT(*) AS n", filters, fittingSql({ filters, search }))) count += n ?? 0;
      return count;
    },
    bounds: async (scope, { filters, search }) => {
      const bounds: Record<string, number | null> = Object.fromEntries(BOUND_NAMES.map((name) => [name, null]));
      for await (const part of sums(scope, BOUND_COLUMNS, filters, fittingSql({ filters, search })))
        for (const name of BOUND_NAMES) {
          const values = [bounds[name], part[name]].filter((value) => typeof value === "number");
          if (values.length > 0) bounds[name] = name.startsWith("min_") ? Math.min(...values) : Math.max(...values);
        }
      return bounds as unknown as LogBounds;
    },
    averages: async (scope, alternatives) => {
      const fitting = alternatives.map(filtersSql);
      const sql = `(${fitting.map((one) => one.sql).join(" OR ") || "0"})`;
      const total = { rows: 0, cost: 0, costs: 0, duration: 0, durations: 0, liked: 0, rated: 0 };
      for await (const part of sums(scope, SUMS, [], { sql, values: fitting.flatMap((one) => one.values) })) {
        for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += part[name] ?? 0;
        if (total.rows >= AVERAGED_ROWS_MAX) break;
      }
      const { rows, costs, durations, liked, rated } = total;
      return {
        ...{ rows, liked, rated },
        cost: costs === 0 ? null : total.cost / costs,
        duration: durations === 0 ? null : total.duration / durations,
      };
    },
    places: async (scope, query) =>
      rowsOf("id, segment, segment_at", await keysFor(scope, query)).map((row) => ({
        row_id: Number(row["row_id"]),
        id: String(row["id"]),
        segment: row["segment"] as number | null,
        at: row["segment_at"] as number | null,
      })),
    close,
  };
}

const TOO_DEEP = `With this order_by only the first ${SORTED_MAX} logs can be reached. Use filters, or order_by created_at.`;

/** The number that the writer keeps; undefined if it also counts rows of a former gateway of that name. */
function knownCount(db: DatabaseSync, scope: LogScope): number | undefined {
  const known = db
    .prepare("SELECT rows FROM gateway_log_counts WHERE account_id = ? AND gateway_id = ?")
    .get(scope.account_id, scope.gateway_id);
  return known === undefined || hasOlder(db, scope) ? undefined : Number(known["rows"]);
}

/** Whether rows remain of a former gateway of that name. */
const hasOlder = (db: DatabaseSync, { account_id, gateway_id, since_ms = 0 }: LogScope): boolean =>
  since_ms > 0 &&
  db
    .prepare("SELECT 1 FROM gateway_logs WHERE account_id = ? AND gateway_id = ? AND at_ms < ? LIMIT 1")
    .get(account_id, gateway_id, since_ms) !== undefined;
