import type { DatabaseSync } from "node:sqlite";
import type { Group, Measure, GroupQuery } from "#events/sql/group-query.ts";
import { blockGroups } from "#events/blocks/block-groups.ts";
import { computedColumn } from "#events/rows/computed-columns.ts";
import { ROLLUP_LEVELS, type Rollup, type RollupLevel, rollupOf, rollupTable } from "#events/rollups/rollups.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { facetColumns } from "#events/rows/schema.ts";
import { usageGroups } from "./usage-groups.ts";
import { isSome, orderSql } from "./group-order.ts";
import { timeEdges, type TimePart, timeParts } from "#events/sql/time-parts.ts";
import { columnsIn, facetJoins, facetsByColumn, joined, joinedColumn, type Sql, type Where, whereSql } from "#events/sql/where-sql.ts";

/** About 0.5 s of work. */
const GROUPED_ROWS_MAX = 400_000;

/** In these columns each row says how many it represents. */
const WEIGHTS: Partial<Record<EventTable, string>> = { dns_queries: "sample_interval" };

/** A time range, from inclusive to exclusive, and the table to read for it. */
interface Piece {
  readonly table: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly counted: boolean;
}

/** Groups with rows. */
export function readGroups(db: DatabaseSync, table: EventTable, query: GroupQuery): readonly Group[] {
  const counted = table === "gateway_logs" ? usageGroups(db, query) : undefined;
  if (counted !== undefined) return counted;
  const parts = timeParts(query.where);
  if (parts.length === 0) return [];
  const rollup = rollupOf(table);
  const level = rollup && coarsestLevel(rollup, query, parts);
  const cut = parts.map(({ fromMs, toMs, rest }) => {
    const rowsAlone = [{ table, fromMs, toMs, counted: false }];
    return { rest, pieces: rollup && level && fromMs < toMs ? piecesOf(db, rollup, level, fromMs, toMs) : rowsAlone };
  });
  const every = sampleInterval(
    db,
    table,
    rollup,
    cut.flatMap(({ rest, pieces }) => piecesToEstimate(pieces, rest)),
  );
  const inner = joined(
    cut.flatMap(({ rest, pieces }) => {
      const condition = whereSql(db, table, rest);
      return [
        ...pieces.map((piece) => pieceSql(table, query, piece, condition, every)),
        ...pieces.flatMap((piece) => (piece.counted ? [] : blocksSql(db, table, query, { piece, rest, every }))),
      ];
    }),
    " UNION ALL ",
  );
  const facetOf = facetsByColumn(table);
  const dimensions = query.by.map(({ column, intervalMs }, i) =>
    facetOf.has(column) && intervalMs === undefined ? `${joinedColumn(facetOf, column, "g")} AS d${i}` : `g.k${i} AS d${i}`,
  );
  const columns = ["IFNULL(SUM(g.n), 0) AS n", ...dimensions, ...query.measures.map(outerMeasure)];
  const joins = facetJoins(facetsOf(table, query), "g");
  const grouped = query.by.length === 0 ? "" : ` GROUP BY ${query.by.map((_, i) => `d${i}`).join(", ")}`;
  const rows = db
    .prepare(`SELECT ${columns.join(", ")} FROM (${inner.sql}) AS g${joins}${grouped}${orderSql(query)} LIMIT ?`)
    .all(...inner.values, query.limit);
  return rows.filter(isSome).map((row) => ({
    count: Number(row["n"]),
    dimensions: query.by.map((_, i) => row[`d${i}`] as string | number | null),
    measures: query.measures.map((_, i) => Number(row[`m${i}`] ?? 0)),
    sampleInterval: every,
  }));
}

const outerMeasure = ({ kind }: Measure, i: number): string => {
  if (kind === "sum") return `IFNULL(SUM(g.m${i}), 0) AS m${i}`;
  return kind === "unique" ? `COUNT(DISTINCT g.m${i}) AS m${i}` : `percentile(g.m${i}, ${kind}) AS m${i}`;
};

const facetsOf = (table: EventTable, { by }: GroupQuery) => {
  const facetOf = facetsByColumn(table);
  return by.flatMap(({ column }) => facetOf.get(column) ?? []);
};

/** The rows of a time range, summed by facets and columns unless each row counts. */
function pieceSql(table: EventTable, query: GroupQuery, piece: Piece, condition: Sql, interval: number): Sql {
  // Counts cover all rows.
  const every = piece.counted ? 1 : interval;
  const facetOf = facetsByColumn(table);
  const facets = [...new Set(facetsOf(table, query))];
  const keys = query.by.flatMap(({ column, intervalMs }, i) => {
    if (intervalMs !== undefined) return [`${column} / ${intervalMs} * ${intervalMs} AS k${i}`];
    return facetOf.has(column) ? [] : [`${column} AS k${i}`];
  });
  const names = [...facets, ...query.by.flatMap((by, i) => (by.intervalMs !== undefined || !facetOf.has(by.column) ? [`k${i}`] : []))];
  const isEach = query.measures.some(({ kind }) => kind !== "sum");
  const weight = WEIGHTS[table] ?? "1";
  const total = (sql: string): string => `${isEach ? sql : `SUM(${sql})`}${every === 1 ? "" : ` * ${every}`}`;
  const measures = query.measures.map(({ kind, column: name }, i) => {
    const column = computedColumn(table, name) ?? name;
    if (kind !== "sum") return `${column} AS m${i}`;
    return `${total(piece.counted ? column : `${column} * ${weight}`)} AS m${i}`;
  });
  const columns = [...facets, ...keys, `${total(piece.counted ? "rows" : weight)} AS n`, ...measures];
  const time: Sql[] = [];
  if (Number.isFinite(piece.fromMs)) time.push({ sql: "at_ms >= ?", values: [piece.fromMs] });
  if (Number.isFinite(piece.toMs)) time.push({ sql: "at_ms < ?", values: [piece.toMs] });
  const sample: Sql[] = every === 1 ? [] : [{ sql: `row_id % ${every} = 0`, values: [] }];
  const where = joined([...time, ...sample, ...(condition.sql === "" ? [] : [condition])], " AND ");
  const grouped = isEach || names.length === 0 ? "" : ` GROUP BY ${names.join(", ")}`;
  return {
    sql: `SELECT ${columns.join(", ")} FROM ${piece.table}${where.sql === "" ? "" : ` WHERE ${where.sql}`}${grouped}`,
    values: where.values,
  };
}

/** The same for rows in blocks; empty without such rows. */
function blocksSql(db: DatabaseSync, table: EventTable, query: GroupQuery, { piece, rest, every }: BlockPiece): readonly Sql[] {
  const { by, measures } = query;
  const facets = [...new Set(facetsOf(table, query))];
  const groups = blockGroups(db, table, { where: [...rest, ...timeConditions(piece)], by, measures, facets, every });
  const [first] = groups;
  if (first === undefined) return [];
  return [{ sql: `SELECT ${first.map((_, i) => `value ->> ${i}`).join(", ")} FROM json_each(?)`, values: [JSON.stringify(groups)] }];
}

interface BlockPiece {
  readonly piece: Piece;
  readonly rest: Where;
  readonly every: number;
}

const timeConditions = ({ fromMs, toMs }: Pick<Piece, "fromMs" | "toMs">): Where => [
  ...(Number.isFinite(fromMs) ? [{ column: "at_ms", operator: "ge", value: fromMs } as const] : []),
  ...(Number.isFinite(toMs) ? [{ column: "at_ms", operator: "lt", value: toMs } as const] : []),
];

/** The longest intervals that can answer the query; undefined if it needs the rows. */
function coarsestLevel(rollup: Rollup, { by, measures }: GroupQuery, parts: readonly TimePart[]): RollupLevel | undefined {
  const rest = parts.flatMap((part) => part.rest);
  const known = new Set<string>([...rollup.columns, ...rollup.facets.flatMap(facetColumns)]);
  // A sum of milliseconds or bytes is counted; other measures are not.
  if (!measures.every(({ kind, column }) => kind === "sum" && rollup.sums.includes(column))) return undefined;
  if (!columnsIn(rest).every((column) => column === "at_ms" || known.has(column))) return undefined;
  // Within an interval, a time is only distinguishable at one of its ends.
  const edges = timeEdges(rest);
  if (edges === undefined) return undefined;
  if (!by.every(({ column, intervalMs }) => (column === "at_ms" ? intervalMs !== undefined : known.has(column)))) return undefined;
  return ROLLUP_LEVELS.find(({ ms }) => by.every(({ intervalMs = ms }) => intervalMs % ms === 0) && edges.every((edge) => edge % ms === 0));
}

/** Whole intervals from roll-ups, long ones in the middle; the ends from rows. */
function piecesOf(db: DatabaseSync, rollup: Rollup, coarsest: RollupLevel, fromMs: number, toMs: number): readonly Piece[] {
  const levels = ROLLUP_LEVELS.slice(ROLLUP_LEVELS.indexOf(coarsest));
  const pieces: Piece[] = [];
  const cover = (from: number, to: number, [level, ...finer]: readonly RollupLevel[]): void => {
    if (from >= to) return;
    if (level === undefined) return void pieces.push({ table: rollup.table, fromMs: from, toMs: to, counted: false });
    const table = rollupTable(rollup, level);
    const first = Math.ceil(Math.max(from, sinceMs(db, table)) / level.ms) * level.ms;
    const end = Math.floor(to / level.ms) * level.ms;
    if (first >= end) return cover(from, to, finer);
    cover(from, first, finer);
    pieces.push({ table, fromMs: first, toMs: end, counted: true });
    cover(end, to, finer);
  };
  cover(fromMs, toMs, levels);
  return pieces;
}

/**
 * Time since which all rows are counted: earlier rows were written by a version without counts, or their counts were
 * deleted before them.
 */
const sinceMs = (db: DatabaseSync, table: string): number => {
  const since = Number(db.prepare("SELECT since_ms FROM rollups WHERE name = ?").get(table)?.["since_ms"] ?? Infinity);
  const oldest = db.prepare(`SELECT MIN(at_ms) AS ms FROM ${table}`).get()?.["ms"] ?? Infinity;
  return Math.max(since, Number(oldest));
};

/** Parts of an interval at the ends of a query are always read. */
const piecesToEstimate = (pieces: readonly Piece[], rest: Where): readonly TimePart[] =>
  pieces.flatMap(({ counted, fromMs, toMs }) => (counted || toMs - fromMs <= SHORTEST.ms ? [] : [{ fromMs, toMs, rest }]));

const [LONGEST, SHORTEST] = ROLLUP_LEVELS;

/** With very many rows, every n-th is read, so that the work stays bounded. */
function sampleInterval(db: DatabaseSync, table: EventTable, rollup: Rollup | undefined, parts: readonly TimePart[]): number {
  const rows = parts.reduce((sum, part) => sum + rowsIn(db, table, rollup, part), 0);
  return Math.max(1, Math.ceil(rows / GROUPED_ROWS_MAX));
}

/** The roll-up knows the number of rows, at least for the site. */
function rowsIn(db: DatabaseSync, table: EventTable, rollup: Rollup | undefined, part: TimePart): number {
  // A row that represents many would be counted as many.
  if (rollup === undefined || rollup.weight !== null) return storedRowsIn(db, table, part);
  const { fromMs, toMs, rest } = part;
  // From the first whole interval on: earlier times are answered without rows.
  const countedFromMs = Math.ceil(sinceMs(db, rollupTable(rollup, LONGEST)) / LONGEST.ms) * LONGEST.ms;
  const uncounted = fromMs < countedFromMs ? storedRowsIn(db, table, { ...part, toMs: Math.min(toMs, countedFromMs) }) : 0;
  if (toMs <= countedFromMs) return uncounted;
  const begin = Math.max(fromMs, countedFromMs);
  const { ms } = begin < sinceMs(db, rollupTable(rollup, SHORTEST)) ? LONGEST : SHORTEST;
  const known = new Set<string>([...rollup.columns, ...rollup.facets.flatMap(facetColumns)]);
  const where = rest.filter((condition) => columnsIn([condition]).every((column) => known.has(column)));
  const whole = timeConditions({ fromMs: Math.floor(begin / ms) * ms, toMs: Math.ceil(toMs / ms) * ms });
  const [group] = readGroups(db, table, { where: [...where, ...whole], by: [], measures: [], order: [], limit: 1 });
  return uncounted + (group?.count ?? 0);
}

/** Individually stored rows, counted one by one; rows in blocks are all counted elsewhere. */
function storedRowsIn(db: DatabaseSync, table: EventTable, { fromMs, toMs, rest }: TimePart): number {
  const condition = whereSql(db, table, rest);
  const where = [...(Number.isFinite(fromMs) ? [`at_ms >= ${fromMs}`] : []), ...(Number.isFinite(toMs) ? [`at_ms < ${toMs}`] : [])];
  const all = joined([...where.map((sql) => ({ sql, values: [] })), ...(condition.sql === "" ? [] : [condition])], " AND ");
  const counted = db.prepare(`SELECT COUNT(*) AS n FROM (SELECT 1 FROM ${table}${all.sql === "" ? "" : ` WHERE ${all.sql}`} LIMIT ?)`);
  return Number(counted.get(...all.values, GROUPED_ROWS_MAX * 100)?.["n"]);
}
