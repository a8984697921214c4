import type { DatabaseSync } from "node:sqlite";
import { newestOfBlocks } from "#events/blocks/block-reads.ts";
import { readGroups } from "./group-sql.ts";
import { rollupOf } from "#events/rollups/rollups.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { facetColumns } from "#events/rows/schema.ts";
import { windowOf } from "#events/sql/time-window.ts";
import { columnsIn, type Where } from "#events/sql/where-sql.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Time ranges to search, one after the other, for rows that may be rare. */
const REACHES_MS = [DAY_MS, 7 * DAY_MS, 35 * DAY_MS, Infinity];

/**
 * A time since which at least `wanted` rows match: counts show where the rows of a rare rule are, which otherwise needs a
 * scan of the time index. Undefined if counts cannot tell, or if only site and time are requested.
 */
export function timeLowerBound(db: DatabaseSync, table: EventTable, where: Where, wanted: number): number | undefined {
  const rollup = rollupOf(table);
  if (rollup === undefined) return undefined;
  const known = new Set<string>([...rollup.columns, ...rollup.facets.flatMap(facetColumns)]);
  const { fromMs, toMs, rest } = windowOf(where);
  const columns = columnsIn(rest);
  const isTold = columns.every((column) => known.has(column));
  const isSelective = columns.some((column) => !facetColumns("site").includes(column));
  const hasSite = rest.some((part) => "column" in part && facetColumns("site").includes(part.column));
  if (!isTold || !isSelective || !hasSite) return undefined;
  const end = Math.min(toMs, newestMs(db, table));
  for (const reachMs of REACHES_MS) {
    const start = Math.max(fromMs, Math.floor((end - reachMs) / HOUR_MS) * HOUR_MS);
    const hours = readGroups(db, table, {
      where: [
        ...rest,
        ...(Number.isFinite(start) ? ([{ column: "at_ms", operator: "ge", value: start }] as const) : []),
        { column: "at_ms", operator: "lt", value: end },
      ],
      by: [{ column: "at_ms", intervalMs: HOUR_MS }],
      measures: [],
      order: [{ by: 0, direction: "desc" }],
      limit: HOURS_MAX,
    });
    let rows = 0;
    for (const { count, dimensions } of hours) {
      rows += count;
      if (rows >= wanted) return Math.max(fromMs, Number(dimensions[0]));
    }
    if (start <= fromMs) break;
  }
  return undefined;
}

const HOURS_MAX = 100_000;

const newestMs = (db: DatabaseSync, table: EventTable): number => {
  const rows = db.prepare(`SELECT IFNULL(MAX(at_ms), 0) AS ms FROM (SELECT at_ms FROM ${table} ORDER BY row_id DESC LIMIT 1000)`).get();
  return Math.max(Number(rows?.["ms"]), newestOfBlocks(db, table).atMs) + 1;
};
