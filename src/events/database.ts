import { DatabaseSync } from "node:sqlite";
import { createLogTables, type LogTables } from "./logs/tables.ts";
import type { EventTable } from "./rows.ts";
import {
  type Cell,
  columnsOf,
  columnSql,
  EVENT_SCHEMA,
  EVENT_SCHEMA_VERSION,
  EVENT_TABLES,
  indexStatements,
  tableStatements,
} from "./schema.ts";

/** The writing side of the events database. One thread owns it. */
export interface EventDatabase {
  /** Inserts the rows whose cells follow one another, all in one transaction with the other tables' rows. */
  insert(tables: readonly { readonly table: EventTable; readonly cells: readonly Cell[] }[]): void;
  /** Deletes at most `rowsMax` rows a table that are older; gives their number. */
  deleteBefore(atMs: number, rowsMax: number): number;
  /** Deletes the oldest `rows` rows of the longest table, so that traffic never pushes out security events; gives their number. */
  deleteOldest(rows: number): number;
  /** Gives at most `pages` free pages back to the file system. */
  shrink(pages: number): void;
  /** Bytes in use, without free pages. */
  usedBytes(): number;
  /** What comes from the segments of the gateway; each call is a transaction. */
  readonly logs: LogTables;
  close(): void;
}

/** Opens or creates the database. Throws when the file is another version's or no database. */
export function openEventDatabase(path: string): EventDatabase {
  const db = new DatabaseSync(path);
  // Before the first table, or it has no effect.
  db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000");
  migrate(db, path);
  const inserts = new Map(EVENT_TABLES.map((table): [EventTable, Inserter] => [table, createInserter(db, table)]));
  const old = EVENT_TABLES.map((table) =>
    db.prepare(
      `DELETE FROM ${table} WHERE row_id IN (SELECT row_id FROM ${table} WHERE row_id <= (SELECT MIN(row_id) FROM ${table}) + ? AND at_ms < ? ORDER BY row_id LIMIT ?)`,
    ),
  );
  // Row ids are given in order and deleted from the front, so their span is the number of rows.
  const spans = EVENT_TABLES.map((table) => ({
    span: db.prepare(`SELECT IFNULL(MAX(row_id) - MIN(row_id) + 1, 0) AS n FROM ${table}`),
    remove: db.prepare(`DELETE FROM ${table} WHERE row_id < (SELECT MIN(row_id) FROM ${table}) + ?`),
  }));
  const logs = createLogTables(db, EVENT_SCHEMA.gateway_logs.columns, createInserter(db, "gateway_logs"));
  const pragma = (name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);

  return {
    insert: (tables) =>
      transaction(db, () => {
        for (const { table, cells } of tables) inserts.get(table)?.(cells);
      }),
    deleteBefore: (atMs, rowsMax) =>
      transaction(db, () => old.reduce((sum, statement) => sum + Number(statement.run(rowsMax, atMs, rowsMax).changes), 0)),
    deleteOldest: (rows) =>
      transaction(db, () => {
        const longest = spans
          .map((table) => ({ remove: table.remove, rows: Number(table.span.get()?.["n"]) }))
          .sort((a, b) => b.rows - a.rows)[0];
        return Number(longest?.remove.run(rows).changes ?? 0);
      }),
    // The pragma frees a page each time it is stepped, so the statement has to run to its end.
    shrink: (pages) => void db.prepare(`PRAGMA incremental_vacuum(${pages})`).all(),
    usedBytes: () => (pragma("page_count") - pragma("freelist_count")) * pragma("page_size"),
    logs: {
      checkpoint: () => transaction(db, () => logs.checkpoint()),
      index: (batch) => transaction(db, () => logs.index(batch)),
      takeEmptySegments: () => transaction(db, () => logs.takeEmptySegments()),
      deleteUsageBefore: (hourMs) => transaction(db, () => logs.deleteUsageBefore(hourMs)),
    },
    close: () => db.close(),
  };
}

function migrate(db: DatabaseSync, path: string): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version !== 0 && version !== EVENT_SCHEMA_VERSION)
    throw new Error(`${path} has events of schema version ${version}; this program writes version ${EVENT_SCHEMA_VERSION}`);
  transaction(db, () => {
    for (const statement of tableStatements()) db.exec(statement);
    for (const statement of missingColumns(db)) db.exec(statement);
    for (const statement of indexStatements()) db.exec(statement);
    db.exec(`PRAGMA user_version = ${EVENT_SCHEMA_VERSION}`);
  });
}

/** A column that has come since the file was made is added, so that it needs no new version: older rows have its zero. */
const missingColumns = (db: DatabaseSync): readonly string[] =>
  EVENT_TABLES.flatMap((table) => {
    const known = new Set(
      db
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map((row) => row["name"]),
    );
    return columnsOf(table)
      .filter((column) => !known.has(column.name))
      .map((column) => `ALTER TABLE ${table} ADD COLUMN ${columnSql(column)}${column.nullable ? "" : ` DEFAULT ${ZEROS[column.sql]}`}`);
  });

/** What an older row has in a column that may not be null; an empty `json` is read as null. */
const ZEROS = { TEXT: "''", INTEGER: "0", REAL: "0" } as const;

type Inserter = (cells: readonly Cell[]) => void;

/** Twenty rows a statement cost a third less than twenty statements; more gain nothing. */
const ROWS_PER_STATEMENT = 20;

function createInserter(db: DatabaseSync, table: EventTable): Inserter {
  const width = EVENT_SCHEMA[table].columns.length;
  const one = db.prepare(insertSql(table, 1));
  const many = db.prepare(insertSql(table, ROWS_PER_STATEMENT));
  return (cells) => {
    let at = 0;
    for (const step = width * ROWS_PER_STATEMENT; at + step <= cells.length; at += step) many.run(...cells.slice(at, at + step));
    for (; at + width <= cells.length; at += width) one.run(...cells.slice(at, at + width));
  };
}

function insertSql(table: EventTable, rows: number): string {
  const columns = EVENT_SCHEMA[table].columns.map((column) => column.name);
  const row = `(${columns.map(() => "?").join(", ")})`;
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${Array(rows).fill(row).join(", ")}`;
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
