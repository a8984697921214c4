import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EventTable } from "./rows.ts";
import { type Cell, storedColumns } from "./schema.ts";

/** Inserts rows whose cells follow one another. `firstRow`: the number of the first row; by default, the table's next one. */
export type Inserter = (cells: readonly Cell[], firstRow?: number) => void;

/** Twenty rows per statement cost a third less than twenty statements; more bring no gain. */
const ROWS_PER_STATEMENT = 20;
/** Number of prepared statements to keep. */
const KINDS_MAX = 64;

export function createInserter(db: DatabaseSync, table: EventTable): Inserter {
  const names = storedColumns(table).map(({ name }): string => name);
  const width = names.length;
  const one = db.prepare(insertSql(table, names, 1));
  const many = db.prepare(insertSql(table, names, ROWS_PER_STATEMENT));
  const numbered = db.prepare(insertSql(table, ["row_id", ...names], 1));
  /** Statements by the columns in which twenty rows are equal, whose cells are passed once. */
  const kinds = new Map<string, StatementSync>();

  const insertMany = (cells: readonly Cell[], from: number, end: number): void => {
    const shared = sharedColumns(cells, width, from, end);
    const kind = kindOf(shared);
    if (kind === undefined) many.run(...cells.slice(from, end));
    else kind.run(...shared.map((column) => cells[from + column]!), ...otherCells(cells, width, from, end, shared));
  };

  const kindOf = (shared: readonly number[]): StatementSync | undefined => {
    if (shared.length < width / 2) return undefined;
    const key = shared.join(",");
    let kind = kinds.get(key);
    if (kind === undefined && kinds.size < KINDS_MAX)
      kinds.set(key, (kind = db.prepare(insertSql(table, names, ROWS_PER_STATEMENT, new Set(shared)))));
    return kind;
  };

  return (cells, firstRow) => {
    let at = 0;
    if (firstRow !== undefined && cells.length > 0) {
      // The rows after it get consecutive numbers.
      numbered.run(firstRow, ...cells.slice(0, width));
      at = width;
    }
    for (const step = width * ROWS_PER_STATEMENT; at + step <= cells.length; at += step) insertMany(cells, at, at + step);
    for (; at + width <= cells.length; at += width) one.run(...cells.slice(at, at + width));
  };
}

/** The columns in which all these rows are equal. */
function sharedColumns(cells: readonly Cell[], width: number, from: number, end: number): readonly number[] {
  const shared: number[] = [];
  for (let column = 0; column < width; column++) {
    const first = cells[from + column];
    let at = from + column + width;
    while (at < end && cells[at] === first) at += width;
    if (at >= end) shared.push(column);
  }
  // SQL needs at least one column per row.
  if (shared.length === width) shared.pop();
  return shared;
}

function otherCells(cells: readonly Cell[], width: number, from: number, end: number, shared: readonly number[]): readonly Cell[] {
  const others: number[] = [];
  for (let column = 0; column < width; column++) if (!shared.includes(column)) others.push(column);
  const given: Cell[] = [];
  for (let row = from; row < end; row += width) for (let i = 0; i < others.length; i++) given.push(cells[row + others[i]!]!);
  return given;
}

/**
 * Parameters of the shared columns come first, then those of one row after the other. They are unnumbered: SQLite would
 * search a number among all others at each bind.
 */
function insertSql(table: EventTable, names: readonly string[], rows: number, shared: ReadonlySet<number> = new Set()): string {
  const own = names.length - shared.size;
  const values = Array.from({ length: rows }, () => `(${Array(own).fill("?").join(", ")})`).join(", ");
  const into = `INSERT INTO ${table} (${names.join(", ")})`;
  if (shared.size === 0) return `${into} VALUES ${values}`;
  let next = 0;
  const cells = names.map((_, column) => (shared.has(column) ? "?" : `own.column${++next}`));
  return `${into} SELECT ${cells.join(", ")} FROM (VALUES ${values}) AS own`;
}
