import { setImmediate as turn } from "node:timers/promises";
import type { DatabaseSync } from "node:sqlite";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { filtersSql, type LogFilter } from "#events/logs/filters.ts";
import type { Sql } from "#events/sql/where-sql.ts";

/** Owner of the logs: every read needs both. */
export interface LogScope {
  readonly account_id: string;
  readonly gateway_id: string;
  /** Creation time of the gateway in milliseconds: older rows belong to a former gateway of that name. Absent: all. */
  readonly since_ms?: number;
}

export const SCOPE = "account_id = ? AND gateway_id = ? AND at_ms >= ?";
export const scopeValues = ({ account_id, gateway_id, since_ms = 0 }: LogScope): [string, string, number] => [
  account_id,
  gateway_id,
  since_ms,
];

export type Direction = "asc" | "desc";

export interface PieceLimits {
  /** Rows that one statement looks at: some ten milliseconds with the slowest search. */
  readonly rows: number;
  /** A read of more rows than fit into this time is refused. */
  readonly timeMs: number;
}
export const PIECE_LIMITS: PieceLimits = { rows: 2_000, timeMs: 20_000 };

/** Runs in the database that is open at that moment. */
export type RunLogs = <T>(empty: T, work: (db: DatabaseSync) => T) => T;

/**
 * The logs of a gateway in pieces by time, so that other reads of the thread run in between, however many rows none of which match. Each piece
 * is a condition; those on `created_at` among the filters have been applied.
 */
export async function* logPieces(
  run: RunLogs,
  scope: LogScope,
  { filters, direction, limits }: { readonly filters: readonly LogFilter[]; readonly direction: Direction; readonly limits: PieceLimits },
): AsyncGenerator<Sql> {
  const endMs = systemClock.monotonicMs() + limits.timeMs;
  const times = filtersSql(filters.filter(({ key }) => key === "created_at"));
  const [beyond, until, order] = direction === "asc" ? [">", "<=", "ASC"] : ["<", ">=", "DESC"];
  const head = `SELECT at_ms, row_id FROM gateway_logs WHERE ${SCOPE} AND ${times.sql}`;
  const sorted = `ORDER BY at_ms ${order}, row_id ${order} LIMIT 1 OFFSET ?`;
  const values = [...scopeValues(scope), ...times.values];
  const edge = (after: Edge | undefined, offset: number): Edge | undefined =>
    run<Edge | undefined>(undefined, (db) => {
      const rest = after === undefined ? [] : [after.at_ms, after.row_id];
      const past = after === undefined ? "" : ` AND (at_ms, row_id) ${beyond} (?, ?)`;
      return db.prepare(`${head}${past} ${sorted}`).get(...values, ...rest, offset) as unknown as Edge | undefined;
    });
  let last: Edge | undefined;
  for (;;) {
    const next = edge(last, limits.rows - 1);
    const [past, rest] = last === undefined ? ["", []] : [` AND (at_ms, row_id) ${beyond} (?, ?)`, [last.at_ms, last.row_id]];
    const [within, end] = next === undefined ? ["", []] : [` AND (at_ms, row_id) ${until} (?, ?)`, [next.at_ms, next.row_id]];
    yield { sql: `${SCOPE}${past}${within}`, values: [...scopeValues(scope), ...rest, ...end] };
    if (next === undefined) return;
    last = next;
    await turn();
    if (systemClock.monotonicMs() > endMs) throw new PlatformError("gateway_input_invalid", { message: TOO_LONG, source: "/filters" });
  }
}

const TOO_LONG = "The gateway has too many logs to look at all of them. Restrict the time with a filter of created_at.";

interface Edge {
  readonly at_ms: number;
  readonly row_id: number;
}
