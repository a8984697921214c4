import type { SQLInputValue } from "node:sqlite";
import { filtersSql, type LogFilter } from "#events/logs/filters.ts";
import type { Sql } from "#events/sql/where-sql.ts";
import type { Direction, RunLogs } from "./log-pieces.ts";

export interface LogQuery {
  readonly filters: readonly LogFilter[];
  /** Part of the id, provider, model, path, event or metadata, case-insensitive; empty for all. */
  readonly search: string;
  readonly orderBy: LogOrder;
  readonly direction: Direction;
  readonly limit: number;
  readonly offset: number;
}
export type LogFitting = Pick<LogQuery, "filters" | "search">;

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

const SEARCHED = ["id", "provider", "model", "path", "event_id", "metadata"] as const;

/** A row by its column of the order; the time and the row id make the order total. */
export type LogKey = readonly [value: string | number | null, at: number, rowId: number];

/** Keys of the rows that match, in order. */
export function keysOf(
  run: RunLogs,
  where: string,
  values: readonly SQLInputValue[],
  { orderBy, direction }: Pick<LogQuery, "orderBy" | "direction">,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly LogKey[] {
  const column = ORDER_COLUMNS[orderBy];
  const order = [column, "at_ms", "row_id"].map((name) => `${name} ${direction === "asc" ? "ASC" : "DESC"}`).join(", ");
  return run([], (db) =>
    db
      .prepare(`SELECT ${column} AS v, at_ms, row_id ${where} ORDER BY ${order} LIMIT ? OFFSET ?`)
      .all(...values, limit, offset)
      .map((row) => [row["v"] as LogKey[0], Number(row["at_ms"]), Number(row["row_id"])] as const),
  );
}

/** As SQLite sorts: null, numbers, texts by their bytes. */
function compareValues(a: LogKey[0], b: LogKey[0]): number {
  if (typeof a === "string" && typeof b === "string") return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (typeof a === "number" && typeof b === "number") return a - b;
  return rankOf(a) - rankOf(b);
}
const rankOf = (value: LogKey[0]): number => (value === null ? 0 : typeof value === "number" ? 1 : 2);
export const inOrder =
  (direction: Direction) =>
  (a: LogKey, b: LogKey): number =>
    (direction === "asc" ? 1 : -1) * (compareValues(a[0], b[0]) || a[1] - b[1] || a[2] - b[2]);

export function fittingSql({ filters, search }: LogFitting): Sql {
  const filtered = filtersSql(filters);
  const searched = search === "" ? "" : ` AND (${SEARCHED.map((column) => `instr(lower(${column}), lower(?)) > 0`).join(" OR ")})`;
  return { sql: `${filtered.sql}${searched}`, values: [...filtered.values, ...(search === "" ? [] : SEARCHED.map(() => search))] };
}
