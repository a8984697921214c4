import { DatabaseSync } from "node:sqlite";
import { systemClock } from "#kernel/clock.ts";
import { createPrivately } from "#kernel/crypto/private-file.ts";
import {
  BLOCK_ROWS_MIN,
  blockSitesTable,
  blockStatements,
  type BlockTable,
  blockTable,
  BLOCK_TABLES,
  createBlockTable,
  siteBytesStatement,
} from "#events/blocks/block-tables.ts";
import { carryOver } from "./migrate-v1.ts";
import { createFacetStore, type FacetStore, namesMaxOf } from "./dictionary-store.ts";
import { createFairEviction } from "./fair-eviction.ts";
import { createInserter, type Inserter } from "#events/rows/inserter.ts";
import { createLogTables, type LogTables } from "#events/logs/tables.ts";
import type { NodeBatch, NodePlace } from "#events/rows/node-batch.ts";
import { createNodePlaces } from "./node-places.ts";
import { numberRows, type PackedRows, unpackRows } from "#events/rows/packed-rows.ts";
import { eventsOfRequests } from "#events/rows/request-events.ts";
import {
  createRollupWriter,
  ROLLUP_LEVELS,
  ROLLUPS,
  type RollupLevel,
  rollupStatements,
  rollupTable,
  type RollupWriter,
} from "#events/rollups/rollups.ts";
import { createValueCounts, type ValueCounts } from "#events/rollups/values.ts";
import type { EventTable } from "#events/rows/rows.ts";
import {
  columnSql,
  EVENT_SCHEMA,
  EVENT_SCHEMA_VERSION,
  EVENT_TABLES,
  FACET_NAMES,
  type FacetName,
  facetTable,
  indexStatements,
  OWNER_COLUMN,
  storedColumns,
  tableStatements,
  VERSION_WITHOUT_BLOCKS,
  VISITORS_COLUMNS,
} from "#events/rows/schema.ts";

/** The writing side of the events database. One thread owns it. */
export interface EventDatabase {
  /** Inserts the rows and counts them in the roll-ups, all in one transaction. */
  insert(tables: readonly PackedRows[]): void;
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
  /** Returns at most `pages` free pages to the file system. */
  shrink(pages: number): void;
  /** Bytes in use, without free pages. */
  usedBytes(): number;
  /** Bytes of the file's free pages. */
  freeBytes(): number;
  /** Copies the log's content into the file and, if no connection reads from the log, truncates it. */
  checkpoint(): void;
  /**
   * Rows and logs of a node: `work` runs in a transaction with the batch's place if the batch is new, and adds the rows that it returns. What it
   * adds outlives the machine once this returns, because the node deletes it then. Returns the place up to which everything is here.
   */
  take(batch: NodeBatch, work: (logs: LogTables) => readonly PackedRows[]): NodePlace;
  /** The highest number of a segment; 0 without one. */
  newestSegment(): number;
  /** Logs from the segments of the gateway; each call is a transaction. */
  readonly logs: LogTables;
  close(): void;
}

/**
 * Opens or creates the database; migrates one of version 1. `namesMax`: combinations of each facet that visitors partly
 * write. Throws if the file has another version or is not a database.
 */
export function openEventDatabase(path: string, nowMs: () => number = systemClock.nowMs, namesMax = namesMaxOf(Infinity)): EventDatabase {
  carryOver(path, nowMs, (to, tables) => {
    const database = openDatabase(to, nowMs, namesMax);
    for (const packed of tables) database.insert([packed]);
    database.close();
  });
  return openDatabase(path, nowMs, namesMax);
}

function openDatabase(path: string, nowMs: () => number, namesMax: number): EventDatabase {
  createPrivately(path);
  const db = new DatabaseSync(path);
  try {
    // Before the first table, because it has no effect later.
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000");
    migrate(db, path);
  } catch (error) {
    db.close();
    throw error;
  }
  const facets = createFacetStore(db, nowMs, namesMax);
  const inserts = new Map(EVENT_TABLES.map((table): [EventTable, Inserter] => [table, createInserter(db, table)]));
  const blocks = new Map(BLOCK_TABLES.map((table): [EventTable, BlockTable] => [table, createBlockTable(db, table, inserts.get(table)!)]));
  const rollups = new Map(
    ROLLUPS.map((rollup): [EventTable, RollupWriter] => [rollup.table, createRollupWriter(db, rollup, facets.otherOf)]),
  );
  const values = createValueCounts(db);
  const logs = createLogTables(db, createInserter(db, "gateway_logs"));
  const pragma = (name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  const usedBytes = (): number => (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");

  const insert = (tables: readonly PackedRows[]): void => {
    for (const [table, batches] of Map.groupBy(tables.flatMap(withEvents), (packed) => packed.table)) {
      const numbered = batches.map((packed) => numberRows(packed, facets.numberOf));
      const block = blocks.get(table);
      for (const rows of numbered) {
        if (block === undefined) inserts.get(table)?.(unpackRows(rows));
        else if (rows.rows < BLOCK_ROWS_MIN) inserts.get(table)?.(unpackRows(rows), block.nextRow());
        else block.insert(rows, block.nextRow());
      }
      // Counted together, because rows of one moment are mostly alike.
      rollups.get(table)?.(numbered);
      if (table === "security_events") values.add(numbered);
      if (table === "gateway_logs") for (const rows of numbered) logs.count(unpackRows(rows));
    }
  };
  const places = createNodePlaces(db);
  const take: EventDatabase["take"] = (batch, work) => {
    db.exec("PRAGMA synchronous = FULL");
    try {
      return settled(db, facets, () => places.take(batch, () => insert(work(logs))));
    } finally {
      db.exec("PRAGMA synchronous = NORMAL");
    }
  };
  return {
    insert: (tables) => settled(db, facets, () => insert(tables)),
    take,
    newestSegment: () => Number(db.prepare("SELECT IFNULL(MAX(segment), 0) AS n FROM gateway_segments").get()?.["n"]),
    ...createDeletions(db, { facets, blocks, values }, usedBytes, nowMs),
    // The pragma frees one page per step, so the statement must run to its end.
    shrink: (pages) => void db.prepare(`PRAGMA incremental_vacuum(${pages})`).all(),
    usedBytes,
    freeBytes: () => pragma("freelist_count") * pragma("page_size"),
    checkpoint: () => {
      // Does not wait for readers: the pages that they read stay in the log.
      db.exec("PRAGMA busy_timeout = 0");
      try {
        db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      } finally {
        db.exec("PRAGMA busy_timeout = 5000");
      }
    },
    logs: {
      checkpoint: () => transaction(db, () => logs.checkpoint()),
      index: (batch) => transaction(db, () => logs.index(batch)),
      count: (cells) => transaction(db, () => logs.count(cells)),
      takeEmptySegments: () => transaction(db, () => logs.takeEmptySegments()),
      deleteUsageBefore: (hourMs) => transaction(db, () => logs.deleteUsageBefore(hourMs)),
    },
    close: () => db.close(),
  };
}

const withEvents = (packed: PackedRows): readonly PackedRows[] =>
  packed.events === undefined ? [packed] : [packed, eventsOfRequests(packed, packed.events)];

/** In a file that is too large, rows keep this share before counts. Measured by texts alone, their size is underestimated. */
const ROWS_SHARE = 1 / 4;
/** Counts that charts and alerts always read; they stay. */
const COUNTS_KEPT: readonly (readonly [RollupLevel["name"], number])[] = [
  ["minutes", 2 * 3_600_000],
  ["hours", 35 * 86_400_000],
];

type Deletions = Pick<EventDatabase, "deleteBefore" | "deleteOldest" | "deleteCountsBefore" | "deleteUnusedFacets">;

interface Stores {
  readonly facets: FacetStore;
  readonly blocks: ReadonlyMap<EventTable, BlockTable>;
  readonly values: ValueCounts;
}

function createDeletions(db: DatabaseSync, { facets, blocks, values }: Stores, usedBytes: () => number, nowMs: () => number): Deletions {
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

function migrate(db: DatabaseSync, path: string): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (![0, VERSION_WITHOUT_BLOCKS, EVENT_SCHEMA_VERSION].includes(version))
    throw new Error(
      `${path} has events of schema version ${version}; this program writes version ${EVENT_SCHEMA_VERSION}. Start the program that made it, or move the file away to begin a new one`,
    );
  transaction(db, () => {
    for (const statement of tableStatements()) db.exec(statement);
    for (const statement of [...missingColumns(db), ...missingOwners(db)]) db.exec(statement);
    for (const statement of [...indexStatements(), ...blockStatements(), ...rollupStatements()]) db.exec(statement);
    for (const table of BLOCK_TABLES) if (!columnsIn(db, blockSitesTable(table)).includes("bytes")) db.exec(siteBytesStatement(table));
    // Otherwise it would be the only write, and a full disk would refuse to open the file.
    if (version !== EVENT_SCHEMA_VERSION) db.exec(`PRAGMA user_version = ${EVENT_SCHEMA_VERSION}`);
  });
}

/** Adds columns that are newer than the file, so that they need no new version: older rows have their zero. */
const missingColumns = (db: DatabaseSync): readonly string[] =>
  EVENT_TABLES.flatMap((table) => {
    const known = columnsIn(db, table);
    return storedColumns(table).flatMap((column) => {
      if (known.includes(column.name)) return [];
      if (column.facet !== null) throw new Error(`a facet of ${table} cannot be added to a file: it needs a new schema version`);
      return [`ALTER TABLE ${table} ADD COLUMN ${columnSql(column)}${column.nullable ? "" : ` DEFAULT ${ZEROS[column.sql]}`}`];
    });
  });

const missingOwners = (db: DatabaseSync): readonly string[] =>
  FACET_NAMES.filter((name) => name in VISITORS_COLUMNS)
    .map(facetTable)
    .flatMap((table) => (columnsIn(db, table).includes("site") ? [] : [`ALTER TABLE ${table} ADD COLUMN ${OWNER_COLUMN}`]));

const columnsIn = (db: DatabaseSync, table: string): readonly string[] =>
  db
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map((row) => String(row["name"]));

/** Values of older rows in a new column that may not be null; an empty `json` is read as null. */
const ZEROS = { TEXT: "''", INTEGER: "0", REAL: "0" } as const;

/** A transaction that may add or delete names. */
function settled<T>(db: DatabaseSync, facets: FacetStore, work: () => T): T {
  let isCommitted = false;
  try {
    const result = transaction(db, work);
    isCommitted = true;
    return result;
  } finally {
    facets.settle(isCommitted);
  }
}

function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
