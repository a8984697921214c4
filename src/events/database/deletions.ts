import { type DatabaseSync } from "node:sqlite";
import { type BlockTable, blockTable, BLOCK_TABLES } from "#events/blocks/block-tables.ts";
import type { FacetStore } from "./dictionary-store.ts";
import { createFairEviction } from "./fair-eviction.ts";
import { ROLLUP_LEVELS, ROLLUPS, type RollupLevel, rollupTable } from "#events/rollups/rollups.ts";
import type { ValueCounts } from "#events/rollups/values.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { EVENT_SCHEMA, EVENT_TABLES, FACET_NAMES, type FacetName } from "#events/rows/schema.ts";
import { settled, transaction } from "./transactions.ts";

/** In a file that is too large, rows keep this share before counts. Measured by texts alone, their size is underestimated. */
const ROWS_SHARE = 1 / 4;
/** Counts that charts and alerts always read; they stay. */
const COUNTS_KEPT: readonly (readonly [RollupLevel["name"], number])[] = [
  ["minutes", 2 * 3_600_000],
  ["hours", 35 * 86_400_000],
];

/** Removal of what is old, or of the largest part of a file that is too large. */
export interface Deletions {
  /**
   * Deletes about `rowsMax` older rows per table, and with them rows that arrived earlier and are dated more than a day
   * ahead, left by a wrong clock; returns their number.
   */
  deleteBefore(atMs: number, rowsMax: number): number;
  /**
   * Deletes about `rows` rows of the largest owner, the oldest of its largest part (fair-eviction.ts); if rows take only
   * a small part of the file, it deletes some of the oldest roll-up entries. Returns their number.
   */
  deleteOldest(rows: number): number;
  /** Deletes about `rowsMax` entries of each roll-up of this level that had ended by then; returns their number. */
  deleteCountsBefore(level: RollupLevel["name"], atMs: number, rowsMax: number): number;
  /** Deletes at most `rowsMax` combinations of each facet that neither a row nor a count uses; returns their number. */
  deleteUnusedFacets(rowsMax: number): number;
}

interface Stores {
  readonly facets: FacetStore;
  readonly blocks: ReadonlyMap<EventTable, BlockTable>;
  readonly values: ValueCounts;
}

export function createDeletions(
  db: DatabaseSync,
  { facets, blocks, values }: Stores,
  usedBytes: () => number,
  nowMs: () => number,
): Deletions {
  const eviction = createFairEviction(db, blocks, nowMs);
  const old = EVENT_TABLES.map((table) => {
    const first = `(SELECT row_id FROM ${table} WHERE at_ms <= :future ORDER BY row_id LIMIT 1)`;
    const expired = db.prepare(
      `DELETE FROM ${table} WHERE row_id IN (SELECT row_id FROM ${table} WHERE row_id BETWEEN ${first} AND ${first} + :rows AND at_ms < :before ORDER BY row_id LIMIT :rows) RETURNING row_id`,
    );
    const misdated = db.prepare(
      `DELETE FROM ${table} WHERE row_id IN (SELECT row_id FROM ${table} WHERE row_id < :last AND at_ms > :future ORDER BY row_id LIMIT :rows)`,
    );
    return (before: number, rows: number, future: number): number => {
      const deleted = expired.all({ before, rows, future });
      const last = deleted.reduce((latest, { row_id }) => Math.max(latest, Number(row_id)), 0);
      const others = Number(misdated.run({ last, rows, future }).changes);
      return deleted.length + others + (blocks.get(table)?.deleteBefore(before, rows, future) ?? 0);
    };
  });
  const oldCounts = ROLLUP_LEVELS.flatMap((level) =>
    ROLLUPS.map((rollup) => {
      const table = rollupTable(rollup, level);
      // Only the key distinguishes rows of a table without row ids; whole moments are deleted, oldest first.
      const until = `(SELECT IFNULL(MAX(at_ms), -1) FROM (SELECT at_ms FROM ${table} WHERE at_ms < ? ORDER BY at_ms LIMIT ?))`;
      return { level, remove: db.prepare(`DELETE FROM ${table} WHERE at_ms <= ${until}`) };
    }),
  );
  const deleteCountsBefore = (name: RollupLevel["name"], atMs: number, rowsMax: number): number =>
    // An interval that has not ended by then must partly be kept.
    oldCounts.reduce(
      (changes, { level, remove }) => (level.name === name ? changes + Number(remove.run(atMs - level.ms + 1, rowsMax).changes) : changes),
      name === "hours" ? values.deleteBefore(atMs, rowsMax) : 0,
    );
  const deleteCounts = (rowsMax: number): number => {
    for (const [name, keptMs] of COUNTS_KEPT) {
      const deleted = deleteCountsBefore(name, nowMs() - keptMs, rowsMax);
      if (deleted > 0) return deleted;
    }
    return 0;
  };
  const users = new Map(FACET_NAMES.map((name) => [name, oldestUse(db, name, nowMs)]));
  return {
    deleteBefore: (atMs, rowsMax) =>
      transaction(db, () => {
        const future = nowMs() + DAY_MS;
        return old.reduce((changes, deleteOld) => changes + deleteOld(atMs, rowsMax, future), 0);
      }),
    deleteOldest: (rows) =>
      transaction(db, () => {
        const isOfRows = eviction.rowBytes() >= usedBytes() * ROWS_SHARE;
        return (isOfRows ? 0 : deleteCounts(rows)) || eviction.deleteOldest(rows);
      }),
    deleteCountsBefore: (name, atMs, rowsMax) => transaction(db, () => deleteCountsBefore(name, atMs, rowsMax)),
    deleteUnusedFacets: (rowsMax) => settled(db, facets, () => facets.deleteUnusedSince((name) => users.get(name)?.() ?? 0, rowsMax)),
  };
}

/** Start of the oldest row or count that may use a combination of the facet; at the latest now, less a day for late rows. */
function oldestUse(db: DatabaseSync, name: FacetName, nowMs: () => number): () => number {
  const rows = EVENT_TABLES.filter((table) => EVENT_SCHEMA[table].facets.includes(name)).map(
    (table) => `SELECT at_ms FROM ${table} WHERE row_id = (SELECT row_id FROM ${table} WHERE at_ms <= :future ORDER BY row_id LIMIT 1)`,
  );
  const blocks = BLOCK_TABLES.filter((table) => EVENT_SCHEMA[table].facets.includes(name)).map(
    (table) => `SELECT MIN(from_ms) FROM ${blockTable(table)}`,
  );
  const counts = ROLLUPS.filter((rollup) => rollup.facets.includes(name)).flatMap((rollup) =>
    ROLLUP_LEVELS.map((level) => `SELECT MIN(at_ms) FROM ${rollupTable(rollup, level)}`),
  );
  const values = name === "site" ? ["SELECT MIN(at_ms) FROM value_hours"] : [];
  const oldest = db.prepare(`SELECT MIN(at_ms) AS at_ms FROM (${[...rows, ...blocks, ...counts, ...values].join(" UNION ALL ")})`);
  const parameters = (): Record<string, number> => (rows.length === 0 ? {} : { future: nowMs() + DAY_MS });
  return () => Number(oldest.get(parameters())?.["at_ms"] ?? 0) - DAY_MS;
}

const DAY_MS = 86_400_000;
