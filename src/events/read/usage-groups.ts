import type { DatabaseSync } from "node:sqlite";
import type { Group, GroupQuery } from "#events/sql/group-query.ts";
import { isSome, orderSql } from "./group-order.ts";
import { computedColumn } from "#events/rows/computed-columns.ts";
import { windowOf } from "#events/sql/time-window.ts";
import { columnsIn, whereSql } from "#events/sql/where-sql.ts";

const HOUR_MS = 3_600_000;
const KEYS: ReadonlySet<string> = new Set(["account_id", "gateway_id", "provider", "model"]);
/** Columns that hourly sums can answer: columns of rows, and values computed from them. */
const SUMS: Readonly<Record<string, string>> = {
  cost: "cost",
  tokens_in: "tokens_in",
  tokens_out: "tokens_out",
  duration_ms: "duration_ms",
  cached: "cached",
  errored: "failed",
  tokens_all: "tokens_in + tokens_out",
  tokens_in_cached: "tokens_in_cached",
  tokens_out_cached: "tokens_out_cached",
  tokens_in_uncached: "tokens_in - tokens_in_cached",
  tokens_out_uncached: "tokens_out - tokens_out_cached",
};

/**
 * Requests of gateways counted from hourly sums, and from rows before the first and after the last whole hour. Hourly
 * sums also include requests whose rows are not kept, or no longer. Undefined if they cannot answer the query.
 */
export function usageGroups(db: DatabaseSync, query: GroupQuery): readonly Group[] | undefined {
  const { fromMs, toMs, rest } = windowOf(query.where);
  const hours = { fromMs: ceil(fromMs), toMs: floor(toMs) };
  if (hours.fromMs >= hours.toMs || !isKnown(query, rest)) return undefined;
  const condition = whereSql(db, "gateway_logs", rest);
  const fitting = condition.sql === "" ? "" : ` AND ${condition.sql}`;
  const pieces = [
    piece(
      query,
      "gateway_usage",
      { count: "requests", time: "hour_ms", sumOf: (column) => SUMS[column]! },
      `hour_ms >= ? AND hour_ms < ?${fitting}`,
    ),
    piece(
      query,
      "gateway_logs",
      { count: "1", time: "at_ms", sumOf: (column) => computedColumn("gateway_logs", column) ?? column },
      `((at_ms >= ? AND at_ms < ?) OR (at_ms >= ? AND at_ms < ?))${fitting}`,
    ),
  ];
  const values = [hours.fromMs, hours.toMs, ...condition.values];
  const edges = [fromMs, hours.fromMs, hours.toMs, toMs].map(finite);
  const grouped = query.by.length === 0 ? "" : ` GROUP BY ${query.by.map((_, i) => `d${i}`).join(", ")}`;
  const columns = [
    "IFNULL(SUM(n), 0) AS n",
    ...query.by.map((_, i) => `d${i}`),
    ...query.measures.map((_, i) => `IFNULL(SUM(m${i}), 0) AS m${i}`),
  ];
  const rows = db
    .prepare(`SELECT ${columns.join(", ")} FROM (${pieces.join(" UNION ALL ")})${grouped}${orderSql(query)} LIMIT ?`)
    .all(...values.map(finiteValue), ...edges, ...condition.values, query.limit);
  return rows.filter(isSome).map((row) => ({
    count: Number(row["n"]),
    dimensions: query.by.map((_, i) => row[`d${i}`] as string | number | null),
    measures: query.measures.map((_, i) => Number(row[`m${i}`])),
    sampleInterval: 1,
  }));
}

const isKnown = ({ by, measures }: GroupQuery, rest: GroupQuery["where"]): boolean =>
  measures.every(({ kind, column }) => kind === "sum" && Object.hasOwn(SUMS, column)) &&
  columnsIn(rest).every((column) => KEYS.has(column)) &&
  by.every(({ column, intervalMs }) => (column === "at_ms" ? intervalMs !== undefined && intervalMs % HOUR_MS === 0 : KEYS.has(column)));

function piece(
  { by, measures }: GroupQuery,
  table: string,
  { count, time, sumOf }: { readonly count: string; readonly time: string; readonly sumOf: (column: string) => string },
  where: string,
): string {
  const dimensions = by.map(
    ({ column, intervalMs }, i) => `${intervalMs === undefined ? column : `${time} / ${intervalMs} * ${intervalMs}`} AS d${i}`,
  );
  const sums = measures.map(({ column }, i) => `${sumOf(column)} AS m${i}`);
  return `SELECT ${[`${count} AS n`, ...dimensions, ...sums].join(", ")} FROM ${table} WHERE ${where}`;
}

const ceil = (ms: number): number => Math.ceil(ms / HOUR_MS) * HOUR_MS;
const floor = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;
/** SQLite has no infinite integers. */
const finite = (ms: number): number => Math.max(Math.min(ms, Number.MAX_SAFE_INTEGER), -Number.MAX_SAFE_INTEGER);
const finiteValue = <T>(value: T): T | number => (typeof value === "number" ? finite(value) : value);
