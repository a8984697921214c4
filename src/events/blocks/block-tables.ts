import type { DatabaseSync } from "node:sqlite";
import type { Inserter } from "#events/rows/inserter.ts";
import { AS_BEFORE, type NumberedRows, unpackRows } from "#events/rows/packed-rows.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { EVENT_SCHEMA, numberColumns } from "#events/rows/schema.ts";
import { Block } from "./block.ts";
import { encodeBlock } from "./block-form.ts";
import { rowsOfBlock } from "./rows-of-block.ts";

/** The tables whose rows may be stored in blocks: each request adds rows to them, and rows never change. */
export const BLOCK_TABLES: readonly EventTable[] = ["requests", "security_events"];
export const hasBlocks = (table: EventTable): boolean => BLOCK_TABLES.includes(table);

/** A batch of fewer rows is written row by row: a block costs as much as forty rows, and is read as a whole. */
export const BLOCK_ROWS_MIN = 64;

export const blockTable = (table: EventTable): string => `${table}_blocks`;
/** Table of the sites in each block, with the number of bytes of each site. */
export const blockSitesTable = (table: EventTable): string => `${table}_block_sites`;

const SITE_BYTES = "bytes INTEGER NOT NULL DEFAULT 0";

/** Used for an older file, whose blocks have no byte counts. */
export const siteBytesStatement = (table: EventTable): string => `ALTER TABLE ${blockSitesTable(table)} ADD COLUMN ${SITE_BYTES}`;

/**
 * Rows are numbered from `first_row` on, with numbers that no row of the table itself has, so that both share one order
 * of arrival. Running the statements again changes nothing.
 */
export const blockStatements = (): readonly string[] =>
  BLOCK_TABLES.flatMap((table) => {
    const [blocks, sites] = [blockTable(table), blockSitesTable(table)];
    return [
      `CREATE TABLE IF NOT EXISTS ${blocks} (first_row INTEGER PRIMARY KEY, rows INTEGER NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, sites TEXT NOT NULL, data BLOB NOT NULL) STRICT`,
      `CREATE INDEX IF NOT EXISTS ${blocks}_to_ms ON ${blocks} (to_ms, from_ms, rows)`,
      `CREATE INDEX IF NOT EXISTS ${blocks}_from_ms ON ${blocks} (from_ms, to_ms, rows)`,
      `CREATE TABLE IF NOT EXISTS ${sites} (site INTEGER NOT NULL, to_ms INTEGER NOT NULL, first_row INTEGER NOT NULL, from_ms INTEGER NOT NULL, rows INTEGER NOT NULL, ${SITE_BYTES}, PRIMARY KEY (site, to_ms, first_row)) STRICT, WITHOUT ROWID`,
      `CREATE TRIGGER IF NOT EXISTS ${blocks}_deleted AFTER DELETE ON ${blocks} BEGIN DELETE FROM ${sites} WHERE site IN (SELECT value FROM json_each(OLD.sites)) AND to_ms = OLD.to_ms AND first_row = OLD.first_row; END`,
    ];
  });

/** The writer's statements for one table's blocks. Every method runs within the caller's transaction. */
export interface BlockTable {
  /** The number of the next row. */
  nextRow(): number;
  insert(rows: NumberedRows, firstRow: number): void;
  /**
   * Deletes blocks of about `rowsMax` rows whose rows are all older, and with them blocks that arrived earlier and have a
   * row dated after `futureMs`, left by a wrong clock; returns the number of rows.
   */
  deleteBefore(atMs: number, rowsMax: number, futureMs: number): number;
  /** The latest time in the oldest block that has rows of the site; undefined if none has. */
  oldestOf(site: number): number | undefined;
  /**
   * Deletes about `rowsMax` rows of these sites in the oldest blocks that have rows of `site`; returns their number and
   * their bytes.
   */
  deleteOldestOf(site: number, sites: ReadonlySet<number>, rowsMax: number): Removed;
}

export interface Removed {
  readonly rows: number;
  readonly bytes: number;
}

/** If fewer rows remain of a block, each takes less room as a single row. */
const LEFT_ROWS_MIN = 40;
/** Approximate size of a row without its texts. */
const ROW_BYTES = 40;

export function createBlockTable(db: DatabaseSync, table: EventTable, insertRow: Inserter): BlockTable {
  const [blocks, sites] = [blockTable(table), blockSitesTable(table)];
  const timeAt = numberColumns(table).findIndex(({ name }) => name === "at_ms");
  const siteAt = EVENT_SCHEMA[table].facets.indexOf("site");
  const next = db.prepare(
    `SELECT MAX(IFNULL((SELECT MAX(row_id) FROM ${table}), 0), IFNULL((SELECT first_row + rows - 1 FROM ${blocks} ORDER BY first_row DESC LIMIT 1), 0)) + 1 AS row`,
  );
  const add = db.prepare(`INSERT INTO ${blocks} (first_row, rows, from_ms, to_ms, sites, data) VALUES (?, ?, ?, ?, ?, ?)`);
  const addSite = db.prepare(`INSERT INTO ${sites} (site, to_ms, first_row, from_ms, rows, bytes) VALUES (?, ?, ?, ?, ?, ?)`);
  const firstOf = db.prepare(`SELECT to_ms FROM ${sites} WHERE site = ? ORDER BY to_ms, first_row LIMIT 1`);
  const firstBlocksOf = db.prepare(`SELECT first_row FROM ${sites} WHERE site = ? ORDER BY to_ms, first_row LIMIT ?`);
  const read = db.prepare(`SELECT data, sites, rows FROM ${blocks} WHERE first_row = ?`);
  const oldest = db.prepare(`SELECT first_row, rows, to_ms FROM ${blocks} WHERE to_ms <= ? ORDER BY first_row LIMIT ?`);
  const misdated = db.prepare(`SELECT first_row, rows FROM ${blocks} WHERE first_row < ? AND to_ms > ? ORDER BY first_row LIMIT ?`);
  const drop = db.prepare(`DELETE FROM ${blocks} WHERE first_row = ?`);

  /** From the front; stops at the first block that must stay. */
  const deleteBefore = (atMs: number, rowsMax: number, futureMs: number): number => {
    let deleted = 0;
    let lastRow = -1;
    const take = ({ first_row, rows }: Readonly<Record<string, unknown>>): void => {
      drop.run(Number(first_row));
      lastRow = Number(first_row);
      deleted += Number(rows);
    };
    for (const block of oldest.all(futureMs, BLOCKS_AT_ONCE)) {
      if (Number(block["to_ms"]) >= atMs || deleted >= rowsMax) break;
      take(block);
    }
    for (const block of misdated.all(lastRow, futureMs, BLOCKS_AT_ONCE)) take(block);
    return deleted;
  };

  const insert = (rows: NumberedRows, firstRow: number): void => {
    const { fromMs, toMs } = spanOf(rows.numbers[timeAt]!);
    const ids = rows.ids[siteAt]!;
    const data = encodeBlock(rows);
    const shares = sharesOf(rows, siteAt);
    add.run(firstRow, rows.rows, fromMs, toMs, JSON.stringify(ids), data);
    for (const [at, site] of ids.entries()) addSite.run(site, toMs, firstRow, fromMs, rows.rows, Math.round(data.length * shares[at]!));
  };

  /** Rows keep their order, but not all keep their numbers. */
  const deleteFrom = (firstRow: number, gone: ReadonlySet<number>): Removed => {
    const found = read.get(firstRow);
    const data = found?.["data"] as Uint8Array;
    const all = JSON.parse(String(found?.["sites"])) as readonly number[];
    drop.run(firstRow);
    if (all.every((site) => gone.has(site))) return { rows: Number(found?.["rows"]), bytes: data.length };
    const block = new Block(firstRow, data);
    const { ids, codes } = block.facet("site");
    const kept: number[] = [];
    for (let row = 0; row < block.rows; row++) if (!gone.has(ids[codes === null ? 0 : codes[row]!]!)) kept.push(row);
    const rows = rowsOfBlock(table, block, kept);
    if (kept.length >= LEFT_ROWS_MIN) insert(rows, firstRow);
    else {
      const cells = unpackRows(rows);
      const width = cells.length / Math.max(1, kept.length);
      for (const at of kept.keys()) insertRow(cells.slice(at * width, (at + 1) * width), firstRow + at);
    }
    return { rows: block.rows - kept.length, bytes: Math.round((data.length * (block.rows - kept.length)) / block.rows) };
  };

  return {
    nextRow: () => Number(next.get()?.["row"]),
    insert,
    oldestOf: (site) => {
      const found = firstOf.get(site);
      return found === undefined ? undefined : Number(found["to_ms"]);
    },
    deleteOldestOf: (site, gone, rowsMax) => {
      let removed: Removed = { rows: 0, bytes: 0 };
      for (const { first_row } of firstBlocksOf.all(site, BLOCKS_AT_ONCE)) {
        const { rows, bytes } = deleteFrom(Number(first_row), gone);
        removed = { rows: removed.rows + rows, bytes: removed.bytes + bytes };
        if (removed.rows >= rowsMax) break;
      }
      return removed;
    },
    deleteBefore,
  };
}

const BLOCKS_AT_ONCE = 100;

/** The share of the block that each of its sites has, by the texts of their rows. */
function sharesOf({ rows, facets, texts, ids }: NumberedRows, siteAt: number): readonly number[] {
  const { combinations } = facets[siteAt]!;
  const bytes = new Float64Array(ids[siteAt]!.length);
  if (bytes.length === 1) return [1];
  for (let row = 0; row < rows; row++) bytes[combinations[row]!]! += ROW_BYTES;
  for (const { lengths } of texts)
    for (let row = 0; row < rows; row++) if (lengths[row] !== AS_BEFORE) bytes[combinations[row]!]! += lengths[row]!;
  const sum = bytes.reduce((all, some) => all + some, 0);
  return Array.from(bytes, (some) => some / sum);
}

function spanOf(times: Float64Array): { readonly fromMs: number; readonly toMs: number } {
  let [fromMs, toMs] = [Infinity, -Infinity];
  for (let i = 0; i < times.length; i++) {
    fromMs = Math.min(fromMs, times[i]!);
    toMs = Math.max(toMs, times[i]!);
  }
  return { fromMs, toMs };
}
