import type { DatabaseSync } from "node:sqlite";
import type { GroupQuery } from "#events/sql/group-query.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { type Cell, columnsOf, type FacetName } from "#events/rows/schema.ts";
import { facetsByColumn, type Where } from "#events/sql/where-sql.ts";
import type { Block } from "./block.ts";
import { blocksOf, fitting, ownCells } from "./block-reads.ts";

export interface BlockGroupQuery {
  /** Includes the requested time range. */
  readonly where: Where;
  readonly by: GroupQuery["by"];
  readonly measures: GroupQuery["measures"];
  /** The facets of `by`, each once. */
  readonly facets: readonly FacetName[];
  /** Reads every n-th block completely; it represents the blocks in between. */
  readonly every: number;
}

/** Facets, other dimensions, count, measures. */
export type GroupTuple = readonly Cell[];

/** Groups over the rows of blocks: summed, unless a measure needs each row. */
export function blockGroups(db: DatabaseSync, table: EventTable, query: BlockGroupQuery): readonly GroupTuple[] {
  const { where, by, measures, facets, every } = query;
  const own = by.filter(({ column, intervalMs }) => intervalMs !== undefined || !facetsByColumn(table).has(column));
  const isEach = measures.some(({ kind }) => kind !== "sum");
  const groups = new Map<Cell, Cell[]>();
  const rows: GroupTuple[] = [];
  const width = facets.length + own.length;
  for (const found of blocksOf(db, table, where, { every })) {
    const keys = [...facets.map((facet) => facetCell(found.block, facet)), ...own.map((key) => keyCell(table, found.block, key))];
    const sums = measures.map(({ column }) => columnCell(table, found.block, column));
    for (const row of fitting(found)) {
      if (isEach) {
        rows.push([...keys.map((cell) => cell(row)), every, ...sums.map((cell, i) => weighted(cell(row), measures[i]!.kind, every))]);
        continue;
      }
      const key = keys.map((cell) => cell(row));
      const name = key.length === 1 ? key[0]! : JSON.stringify(key);
      let group = groups.get(name);
      if (group === undefined) groups.set(name, (group = [...key, 0, ...sums.map(() => 0)]));
      group[width] = Number(group[width]) + every;
      for (let i = 0; i < sums.length; i++) group[width + 1 + i] = Number(group[width + 1 + i]) + Number(sums[i]!(row)) * every;
    }
  }
  return isEach ? rows : [...groups.values()];
}

const weighted = (value: Cell, kind: GroupQuery["measures"][number]["kind"], every: number): Cell =>
  kind === "sum" ? Number(value) * every : value;

type CellOf = (row: number) => Cell;

function facetCell(block: Block, facet: FacetName): CellOf {
  const { ids, codes } = block.facet(facet);
  return codes === null ? () => ids[0]! : (row) => ids[codes[row]!]!;
}

function keyCell(table: EventTable, block: Block, { column, intervalMs }: GroupQuery["by"][number]): CellOf {
  const cell = columnCell(table, block, column);
  return intervalMs === undefined ? cell : (row) => Math.trunc(Number(cell(row)) / intervalMs) * intervalMs;
}

function columnCell(table: EventTable, block: Block, name: string): CellOf {
  return ownCells(
    block,
    columnsOf(table).find((column) => column.name === name)!,
  );
}
