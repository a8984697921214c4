import { DatabaseSync } from "node:sqlite";
import { systemClock } from "#kernel/clock.ts";
import { createPrivately } from "#kernel/crypto/private-file.ts";
import { BLOCK_ROWS_MIN, type BlockTable, BLOCK_TABLES, createBlockTable } from "#events/blocks/block-tables.ts";
import { carryOver } from "./migrate-v1.ts";
import { createFacetStore, namesMaxOf } from "./dictionary-store.ts";
import { createInserter, type Inserter } from "#events/rows/inserter.ts";
import { createLogTables, type LogTables } from "#events/logs/tables.ts";
import type { NodeBatch, NodePlace } from "#events/rows/node-batch.ts";
import { createNodePlaces } from "./node-places.ts";
import { numberRows, type PackedRows, unpackRows } from "#events/rows/packed-rows.ts";
import { eventsOfRequests } from "#events/rows/request-events.ts";
import { createRollupWriter, ROLLUPS, type RollupWriter } from "#events/rollups/rollups.ts";
import { createValueCounts } from "#events/rollups/values.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { EVENT_TABLES } from "#events/rows/schema.ts";
import { settled, transaction } from "./transactions.ts";
import { migrate } from "./migrate.ts";
import { createDeletions, type Deletions } from "./deletions.ts";

/** The writing side of the events database. One thread owns it. */
export interface EventDatabase extends Deletions {
  /** Inserts the rows and counts them in the roll-ups, all in one transaction, in which `also` runs last. */
  insert(tables: readonly PackedRows[], also?: () => void): void;
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
    insert: (tables, also) =>
      settled(db, facets, () => {
        insert(tables);
        also?.();
      }),
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
