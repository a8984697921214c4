import type { DatabaseSync } from "node:sqlite";
import type { NumberedRows } from "#events/packed-rows.ts";
import type { EventTable } from "#events/rows.ts";
import { EVENT_SCHEMA, storedColumns } from "#events/schema.ts";
import { encodeBlock } from "./block-form.ts";

/** The tables whose rows may lie in blocks: those of which every request leaves some, and none of which ever changes. */
export const BLOCK_TABLES: readonly EventTable[] = ["requests", "security_events"];
export const hasBlocks = (table: EventTable): boolean => BLOCK_TABLES.includes(table);

/** A batch of fewer rows is written row by row: a block costs as much as forty of them, and is read as a whole. */
export const BLOCK_ROWS_MIN = 64;

export const blockTable = (table: EventTable): string => `${table}_blocks`;
/** Which sites the rows of each block are of. */
export const blockSitesTable = (table: EventTable): string => `${table}_block_sites`;

/**
 * Rows have the numbers from `first_row` on, which no row of the table itself has, so that the order of arrival is one for both.
 * Running the statements again changes nothing.
 */
export const blockStatements = (): readonly string[] =>
  BLOCK_TABLES.flatMap((table) => {
    const [blocks, sites] = [blockTable(table), blockSitesTable(table)];
    return [
      `CREATE TABLE IF NOT EXISTS ${blocks} (first_row INTEGER PRIMARY KEY, rows INTEGER NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, sites TEXT NOT NULL, data BLOB NOT NULL) STRICT`,
      `CREATE INDEX IF NOT EXISTS ${blocks}_to_ms ON ${blocks} (to_ms, from_ms, rows)`,
      `CREATE INDEX IF NOT EXISTS ${blocks}_from_ms ON ${blocks} (from_ms, to_ms, rows)`,
      `CREATE TABLE IF NOT EXISTS ${sites} (site INTEGER NOT NULL, to_ms INTEGER NOT NULL, first_row INTEGER NOT NULL, from_ms INTEGER NOT NULL, rows INTEGER NOT NULL, PRIMARY KEY (site, to_ms, first_row)) STRICT, WITHOUT ROWID`,
      `CREATE TRIGGER IF NOT EXISTS ${blocks}_deleted AFTER DELETE ON ${blocks} BEGIN DELETE FROM ${sites} WHERE site IN (SELECT value FROM json_each(OLD.sites)) AND to_ms = OLD.to_ms AND first_row = OLD.first_row; END`,
    ];
  });

/** The writer's statements for one table's blocks. Every method runs within the caller's transaction. */
export interface BlockTable {
  /** The number that the next row gets. */
  nextRow(): number;
  insert(rows: NumberedRows, firstRow: number): void;
  /** Deletes blocks of some `rowsMax` rows whose rows are all older; gives the number of rows. */
  deleteBefore(atMs: number, rowsMax: number): number;
  /** Deletes blocks whose first row has a smaller number; gives the number of rows. */
  deleteRowsBefore(row: number): number;
}

export function createBlockTable(db: DatabaseSync, table: EventTable): BlockTable {
  const [blocks, sites] = [blockTable(table), blockSitesTable(table)];
  const numbers = storedColumns(table).filter((column) => column.facet === null && column.sql !== "TEXT");
  const timeAt = numbers.findIndex(({ name }) => name === "at_ms");
  const siteAt = EVENT_SCHEMA[table].facets.indexOf("site");
  const next = db.prepare(
    `SELECT MAX(IFNULL((SELECT MAX(row_id) FROM ${table}), 0), IFNULL((SELECT first_row + rows - 1 FROM ${blocks} ORDER BY first_row DESC LIMIT 1), 0)) + 1 AS row`,
  );
  const add = db.prepare(`INSERT INTO ${blocks} (first_row, rows, from_ms, to_ms, sites, data) VALUES (?, ?, ?, ?, ?, ?)`);
  const addSite = db.prepare(`INSERT INTO ${sites} (site, to_ms, first_row, from_ms, rows) VALUES (?, ?, ?, ?, ?)`);
  const oldest = db.prepare(`SELECT first_row, rows, to_ms FROM ${blocks} ORDER BY first_row LIMIT ?`);
  const drop = db.prepare(`DELETE FROM ${blocks} WHERE first_row = ?`);

  /** From the front, as long as they may go. */
  const dropWhile = (mayGo: (block: { firstRow: number; rows: number; toMs: number }, dropped: number) => boolean): number => {
    let dropped = 0;
    for (const row of oldest.all(BLOCKS_AT_ONCE)) {
      const block = { firstRow: Number(row["first_row"]), rows: Number(row["rows"]), toMs: Number(row["to_ms"]) };
      if (!mayGo(block, dropped)) break;
      drop.run(block.firstRow);
      dropped += block.rows;
    }
    return dropped;
  };

  return {
    nextRow: () => Number(next.get()?.["row"]),
    insert: (rows, firstRow) => {
      const { fromMs, toMs } = spanOf(rows.numbers[timeAt]!);
      const ids = rows.ids[siteAt]!;
      add.run(firstRow, rows.rows, fromMs, toMs, JSON.stringify(ids), encodeBlock(rows));
      for (const site of ids) addSite.run(site, toMs, firstRow, fromMs, rows.rows);
    },
    deleteBefore: (atMs, rowsMax) => dropWhile(({ toMs }, dropped) => toMs < atMs && dropped < rowsMax),
    deleteRowsBefore: (row) => dropWhile((block) => block.firstRow < row),
  };
}

const BLOCKS_AT_ONCE = 100;

function spanOf(times: Float64Array): { readonly fromMs: number; readonly toMs: number } {
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (let i = 0; i < times.length; i++) {
    fromMs = Math.min(fromMs, times[i]!);
    toMs = Math.max(toMs, times[i]!);
  }
  return { fromMs, toMs };
}
