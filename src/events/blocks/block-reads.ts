import type { DatabaseSync } from "node:sqlite";
import type { EventTable, EventTables } from "#events/rows/rows.ts";
import { type Cell, type Column, decodeRow, EVENT_SCHEMA, facetColumns, facetTable, storedColumns } from "#events/rows/schema.ts";
import { windowOf } from "#events/sql/time-window.ts";
import { siteIds, type Where } from "#events/sql/where-sql.ts";
import { Block } from "./block.ts";
import { blockTest, type RowTest } from "./block-filter.ts";
import { blockSitesTable, blockTable, hasBlocks } from "./block-tables.ts";

/** A matching row of a block. */
export interface BlockMatch {
  readonly at_ms: number;
  readonly row_id: number;
  readonly block: Block;
  readonly row: number;
}

type Direction = "asc" | "desc";

/** A block in which rows may match, and which of them do. */
export interface FoundBlock {
  readonly fromMs: number;
  readonly toMs: number;
  readonly block: Block;
  readonly rows: Exclude<RowTest, false>;
}

/**
 * Blocks that may have matching rows, one after the other: ordered by their newest row, newest first, or by their oldest
 * row, oldest first. `every`: only every n-th block is read. `isEnough`: neither this block nor any after it is needed.
 */
export function* blocksOf(
  db: DatabaseSync,
  table: EventTable,
  where: Where,
  { direction = "desc", every = 1, isEnough = () => false }: BlockOrder = {},
): Generator<FoundBlock> {
  if (!hasBlocks(table)) return;
  const { fromMs, toMs } = windowOf(where);
  const sites = siteIds(db, table, where);
  if (sites?.length === 0) return;
  const [from, condition] = sites?.length === 1 ? [blockSitesTable(table), `site = ${sites[0]} AND `] : [blockTable(table), ""];
  const order = direction === "desc" ? "to_ms DESC" : "from_ms ASC";
  const spans = db.prepare(`SELECT first_row, from_ms, to_ms FROM ${from} WHERE ${condition}to_ms >= ? AND from_ms < ? ORDER BY ${order}`);
  const read = readerOf(db, table);
  const test = blockTest(db, table, where);
  let at = 0;
  for (const span of spans.iterate(finite(fromMs), finite(toMs))) {
    if (at++ % every !== 0) continue;
    const times = { fromMs: Number(span["from_ms"]), toMs: Number(span["to_ms"]) };
    if (isEnough(times)) return;
    const block = read(Number(span["first_row"]));
    const rows = test(block);
    if (rows !== false) yield { ...times, block, rows };
  }
}

interface BlockOrder {
  readonly direction?: Direction;
  readonly every?: number;
  isEnough?(times: BlockTimes): boolean;
}

type BlockTimes = Pick<FoundBlock, "fromMs" | "toMs">;

const finite = (ms: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, ms));

function readerOf(db: DatabaseSync, table: EventTable): (firstRow: number) => Block {
  const read = db.prepare(`SELECT data FROM ${blockTable(table)} WHERE first_row = ?`);
  return (firstRow) => new Block(firstRow, read.get(firstRow)?.["data"] as Uint8Array);
}

/** The matching rows of the block. */
export function fitting({ block, rows }: FoundBlock): readonly number[] {
  const found: number[] = [];
  for (let row = 0; row < block.rows; row++) if (rows === true || rows(row)) found.push(row);
  return found;
}

export interface MatchQuery {
  readonly direction: Direction;
  /** Only rows after this one. */
  readonly after: { readonly at_ms: number; readonly row_id: number } | undefined;
  readonly wanted: number;
}

/** A matching row without its block: a page may have rows from many blocks, which should not all stay in memory. */
export interface FirstMatch<T extends EventTable> extends RowPlace {
  row(): EventTables[T];
}

/** The first matching rows in order of time, and of arrival among rows of the same time. */
export function firstMatches<T extends EventTable>(
  db: DatabaseSync,
  table: T,
  where: Where,
  { direction, after, wanted }: MatchQuery,
): readonly FirstMatch<T>[] {
  const compare = inDirection(direction);
  const whole = blockRows(db, table);
  let matches: FirstMatch<T>[] = [];
  const isEnough = (times: BlockTimes): boolean => matches.length >= wanted && isBehind(times, matches.at(-1)!, direction);
  for (const found of blocksOf(db, table, where, { direction, isEnough })) {
    const fresh: (BlockMatch | FirstMatch<T>)[] = [...matches];
    for (const match of matchesOf(found)) if (after === undefined || compare(match, after) > 0) fresh.push(match);
    matches = fresh
      .sort(compare)
      .slice(0, wanted)
      .map((match) => ("block" in match ? outOfBlock(match, whole(match)) : match));
  }
  return matches;
}

/** Positions of these rows, for the many rows that a page only skips. */
export function firstPositions(
  db: DatabaseSync,
  table: EventTable,
  where: Where,
  { direction, after, wanted }: MatchQuery,
): readonly RowPlace[] {
  const compare = inDirection(direction);
  let places: RowPlace[] = [];
  const isEnough = (times: BlockTimes): boolean => {
    if (places.length < wanted) return false;
    places = places.sort(compare).slice(0, wanted);
    return isBehind(times, places.at(-1)!, direction);
  };
  for (const found of blocksOf(db, table, where, { direction, isEnough })) {
    for (const { at_ms, row_id } of matchesOf(found)) {
      const place = { at_ms, row_id };
      if (after === undefined || compare(place, after) > 0) places.push(place);
    }
  }
  return places.sort(compare).slice(0, wanted);
}

/** The order of time, and of arrival among rows of one time. */
export function inDirection(direction: Direction): (a: RowPlace, b: RowPlace) => number {
  const order = direction === "desc" ? -1 : 1;
  return (a, b) => order * (a.at_ms - b.at_ms || a.row_id - b.row_id);
}

/** Whether every row of the block comes after this one. */
const isBehind = ({ fromMs, toMs }: BlockTimes, { at_ms }: RowPlace, direction: Direction): boolean =>
  direction === "desc" ? toMs < at_ms : fromMs > at_ms;

function* matchesOf(found: FoundBlock): Generator<BlockMatch> {
  const { block } = found;
  const times = block.numbers("at_ms");
  for (const row of fitting(found)) yield { at_ms: times[row]!, row_id: block.firstRow + row, block, row };
}

const outOfBlock = <T extends EventTable>({ at_ms, row_id }: RowPlace, row: EventTables[T]): FirstMatch<T> => ({
  at_ms,
  row_id,
  row: () => row,
});

type RowPlace = Pick<BlockMatch, "at_ms" | "row_id">;

export function countMatches(db: DatabaseSync, table: EventTable, where: Where): number {
  let count = 0;
  for (const found of blocksOf(db, table, where)) count += found.rows === true ? found.block.rows : fitting(found).length;
  return count;
}

/** Matching rows that arrived after the row `after`, up to the row `last`, in order of arrival. */
export function* matchesSince(db: DatabaseSync, table: EventTable, where: Where, after: number, last: number): Generator<BlockMatch> {
  if (!hasBlocks(table)) return;
  const blocks = blockTable(table);
  const before = `IFNULL((SELECT MAX(first_row) FROM ${blocks} WHERE first_row <= ?), 0)`;
  const spans = db.prepare(`SELECT first_row FROM ${blocks} WHERE first_row >= ${before} AND first_row <= ? ORDER BY first_row`);
  const read = readerOf(db, table);
  const test = blockTest(db, table, where);
  for (const span of spans.iterate(after, last)) {
    const block = read(Number(span["first_row"]));
    const rows = test(block);
    if (rows === false) continue;
    const times = block.numbers("at_ms");
    for (let row = Math.max(0, after + 1 - block.firstRow); row < block.rows && block.firstRow + row <= last; row++) {
      if (rows === true || rows(row)) yield { at_ms: times[row]!, row_id: block.firstRow + row, block, row };
    }
  }
}

/** The number of the newest row, and the latest time among rows that arrived recently; 0 without blocks. */
export function newestOfBlocks(db: DatabaseSync, table: EventTable): { readonly row: number; readonly atMs: number } {
  if (!hasBlocks(table)) return { row: 0, atMs: 0 };
  const newest = db.prepare(`SELECT first_row + rows - 1 AS row, to_ms FROM ${blockTable(table)} ORDER BY first_row DESC LIMIT 8`).all();
  return { row: Number(newest[0]?.["row"] ?? 0), atMs: Math.max(0, ...newest.map((block) => Number(block["to_ms"]))) };
}

/** Builds whole rows from matches. */
export function blockRows<T extends EventTable>(db: DatabaseSync, table: T): (match: BlockMatch) => EventTables[T] {
  const columns = storedColumns(table);
  const facets = new Map(
    EVENT_SCHEMA[table].facets.map((name) => {
      const find = db.prepare(`SELECT ${facetColumns(name).join(", ")} FROM ${facetTable(name)} WHERE id = ?`);
      const known = new Map<number, Readonly<Record<string, unknown>>>();
      return [
        name,
        (id: number) => {
          let texts = known.get(id);
          if (texts === undefined) known.set(id, (texts = find.get(id) ?? {}));
          return texts;
        },
      ] as const;
    }),
  );
  return ({ block, row }) => {
    const cells: Record<string, unknown> = {};
    for (const column of columns) {
      if (column.facet !== null) {
        const { ids, codes } = block.facet(column.name);
        Object.assign(cells, facets.get(column.facet)!(ids[codes === null ? 0 : codes[row]!]!));
      } else cells[column.name] = ownCells(block, column)(row);
    }
    return decodeRow(table, cells);
  };
}

type OwnColumn = Pick<Column, "name" | "sql" | "nullable">;

/** The cells of a row's stored column; the zero of a column that is newer than the block. */
export function ownCells(block: Block, { name, sql, nullable }: OwnColumn): (row: number) => Cell {
  if (!block.has(name)) return () => (nullable ? null : sql === "TEXT" ? "" : 0);
  if (sql === "TEXT") {
    const texts = block.texts(name);
    return (row) => texts.at(row);
  }
  const numbers = block.numbers(name);
  return (row) => (Number.isNaN(numbers[row]) ? null : numbers[row]!);
}
