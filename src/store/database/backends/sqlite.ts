import { type FileHandle, open } from "node:fs/promises";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { createPrivately } from "#kernel/crypto/private-file.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Rows, Session } from "#store/queries/session.ts";

/** `write` creates the file in WAL mode; `read` rejects writes; `migrate` may also edit table definitions. */
export type SqliteMode = "write" | "checkpoint" | "read" | "migrate";

/** A connection to an SQLite file, which syncs every commit to disk unless that is changed. */
export function openSqlite(path: string, mode: SqliteMode): Session {
  if (mode !== "read") createPrivately(path);
  // Waiting inside SQLite blocks the thread, so the timeout is short.
  const db = new DatabaseSync(path, { readOnly: mode === "read", enableForeignKeyConstraints: true, timeout: BUSY_TIMEOUT_MS });
  if (mode === "migrate") db.enableDefensive(false);
  try {
    for (const row of PRAGMAS) if (mode !== "read" || !row.writerOnly) setPragma(db, row);
    // It retries without blocking (begin.ts). Only the checkpointer holds the lock of writers besides, for milliseconds.
    if (mode === "write") db.exec("PRAGMA busy_timeout = 0");
  } catch (error) {
    db.close();
    throw error;
  }
  const statement = statementCache(db);
  // A statement's own count excludes rows that a cascade deletes.
  const total = db.prepare("SELECT total_changes() AS total");
  const changes = (): number => Number(total.get()!["total"]);
  let rollbackError: unknown = null;
  /** Another descriptor of the log, which keeps its file while a connection is open. */
  let log: Promise<FileHandle> | null = null;
  return {
    query: async (sql, parameters = []) => {
      if (rollbackError !== null) throw rollbackError;
      const wasInTransaction = db.isTransaction;
      try {
        const prepared = statement(sql);
        if (!prepared.writes) return run(prepared, parameters as SQLInputValue[]);
        const before = changes();
        const rows = run(prepared, parameters as SQLInputValue[]);
        return { ...rows, touched: changes() - before };
      } catch (error) {
        // A full disk rolls back the whole transaction. Further statements would be committed one by one.
        if (wasInTransaction && !db.isTransaction) rollbackError = error;
        throw error;
      }
    },
    synced: async () => {
      try {
        log ??= open(`${path}-wal`, "r");
        await (await log).datasync();
      } catch (error) {
        throw new PlatformError("database_unavailable", { cause: error });
      }
    },
    close: async () => {
      await (await log?.catch(() => null))?.close();
      db.close();
    },
  };
}

const BUSY_TIMEOUT_MS = 200;
const STATEMENTS_MAX = 500;

interface Pragma {
  readonly name: string;
  readonly set: string;
  /** The value that the pragma must have afterwards; null if it cannot be read. */
  readonly reads: string | number | null;
  readonly writerOnly: boolean;
}

const PRAGMAS: readonly Pragma[] = [
  { name: "journal_mode", set: "WAL", reads: "wal", writerOnly: true },
  // FULL syncs the log on each commit. In WAL mode, a build of SQLite may default to NORMAL, which does not.
  { name: "synchronous", set: "FULL", reads: 2, writerOnly: true },
  { name: "foreign_keys", set: "ON", reads: 1, writerOnly: true },
  // 1 GB. Normally the checkpointer acts long before; if it cannot, the writer checkpoints, within a commit and so for 0.2 s
  // or more. A reader that goes through the whole database keeps the log from being copied until it ends.
  { name: "wal_autocheckpoint", set: "256000", reads: 256_000, writerOnly: true },
  // Truncating a log of hundreds of megabytes takes 100 ms, so only the checkpointer's thread does it (checkpointer.ts).
  { name: "journal_size_limit", set: "-1", reads: -1, writerOnly: true },
  { name: "temp_store", set: "MEMORY", reads: 2, writerOnly: false },
  { name: "cache_size", set: "-32768", reads: -32768, writerOnly: false },
  // LIKE is case-sensitive as in PostgreSQL, so that a filter means the same on both.
  { name: "case_sensitive_like", set: "ON", reads: null, writerOnly: false },
];

function setPragma(db: DatabaseSync, { name, set, reads }: Pragma): void {
  db.exec(`PRAGMA ${name} = ${set}`);
  if (reads === null) return;
  const row = db.prepare(`PRAGMA ${name}`).get();
  if (row?.[name] !== reads) throw new Error(`SQLite refused PRAGMA ${name} = ${set}: it reads ${String(row?.[name])}`);
}

interface Prepared {
  readonly statement: StatementSync;
  readonly columns: readonly string[];
  readonly writes: boolean;
}

const WRITES = /^\s*(?:delete|insert|update|with)\s/i;

/** Prepared statements by text; evicts the least recently used. */
function statementCache(db: DatabaseSync): (sql: string) => Prepared {
  const cache = new Map<string, Prepared>();
  return (sql) => {
    let prepared = cache.get(sql);
    if (prepared) {
      cache.delete(sql);
    } else {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      prepared = { statement, columns: statement.columns().map((column) => column.name), writes: WRITES.test(sql) };
      if (cache.size >= STATEMENTS_MAX) cache.delete(cache.keys().next().value!);
    }
    cache.set(sql, prepared);
    return prepared;
  };
}

function run({ statement, columns }: Prepared, parameters: readonly SQLInputValue[]): Rows {
  if (columns.length === 0) return { rows: [], affected: Number(statement.run(...parameters).changes) };
  const rows = statement.all(...parameters) as unknown as unknown[][];
  // node:sqlite's row objects have no prototype and are slow dictionaries.
  return { rows: rows.map((row) => toObject(columns, row)), affected: rows.length };
}

function toObject(columns: readonly string[], row: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (let i = 0; i < columns.length; i++) object[columns[i]!] = row[i];
  return object;
}
