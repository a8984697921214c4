import {
  type DialectAdapter,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Tables } from "./tables.ts";

/** One connection to the database, used by one caller at a time. */
export interface Session {
  query(sql: string, parameters?: readonly unknown[]): Promise<Rows>;
  /** The same for several that do not need each other's rows, in order and in one message to a server; absent: call `query` for each. */
  together?(statements: readonly Statement[]): Promise<readonly Rows[]>;
  /** Resolves when all commits so far are on disk, for which other threads wait; absent if COMMIT always waits for it. */
  synced?(): Promise<void>;
  close(): Promise<void>;
}

export interface Statement {
  readonly sql: string;
  readonly parameters?: readonly unknown[];
}

/** The rows of the last statement. If one fails, those after it in a transaction have no effect. */
export async function queryTogether(session: Session, statements: readonly Statement[]): Promise<Rows> {
  let rows: Rows = { rows: [], affected: 0 };
  if (session.together !== undefined) return (await session.together(statements)).at(-1) ?? rows;
  for (const { sql, parameters } of statements) rows = await session.query(sql, parameters);
  return rows;
}

export interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly affected: number;
  /** Rows that the calling thread wrote or deleted, including cascades; absent if a server did the work. */
  readonly touched?: number;
}

export type DialectName = "sqlite" | "postgres";

/** The server could not be reached or did not answer in time; other errors are its answers. */
export class DatabaseUnreachable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "DatabaseUnreachable";
  }
}

/** Faults of the database itself, not of a query. */
export type Fault = Extract<ErrorName, "database_unavailable" | "database_damaged" | "database_replaced" | "storage_full">;

/** Everything that differs between the two dialects, so that no other file depends on the dialect. */
export interface Dialect {
  readonly name: DialectName;
  readonly adapter: DialectAdapter;
  readonly compiler: QueryCompiler;
  introspector(db: Kysely<Tables>): SqliteIntrospector | PostgresIntrospector;
  /** Starts a writing transaction. */
  readonly begin: string;
  /**
   * Statements before a transaction that changes thousands of rows, and before the next usual one: where undo data is
   * stored. Null if the server manages this.
   */
  readonly undo: { readonly large: string; readonly usual: string } | null;
  /** Starts a read-only transaction whose statements all see the same commit. */
  readonly beginSnapshot: string;
  /** Appended to a SELECT to lock its rows; SQLite's writing transaction is exclusive anyway. */
  readonly forUpdate: string;
  /** Returns a row, whose `found` is not false, if our tables exist. */
  readonly hasTables: string;
  /** Returns a row whose `found` is false while a dump is being loaded; null if a restore is one step. */
  readonly isWhole: string | null;
  /** Distinguishes this database from a copy of its contents: another database, or the same one restored to an earlier time. */
  readonly identity: string;
  /** Column types for migrations. Both compare text by code point. */
  readonly text: string;
  readonly integer: string;
  /** Prevents other nodes from migrating at the same time; null if `begin` does so already. */
  readonly migrationLock: string | null;
  /**
   * Statements around a migration, which may replace a table with a copy: rows that refer to the table must not be
   * deleted. Null if the server can change a table in place.
   */
  readonly looseReferences: { readonly begin: string; readonly end: string } | null;
  /** Options after a table's closing parenthesis. */
  readonly tableOptions: string;
  /** Table options for a table that is only read in the order of its primary key; stored in that order if the dialect can. */
  readonly clusteredTableOptions: string;
  placeholder(position: number): string;
  /** Another process holds the lock that `begin` needs; retrying helps. */
  isBusy(error: unknown): boolean;
  /** A row with the same key exists. */
  isUniqueViolation(error: unknown): boolean;
  /** Null if the query itself is wrong. */
  fault(error: unknown): Fault | null;
  /** Converts the error of a query that is valid for every version of our schema. */
  unreadable(error: unknown): unknown;
}

// https://www.sqlite.org/rescode.html: SQLITE_ERROR; SQLITE_BUSY; SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE.
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_UNIQUE_VIOLATIONS: readonly number[] = [1555, 2067];
const SQLITE_FAULTS: Readonly<Record<number, Fault>> = {
  [SQLITE_BUSY]: "database_unavailable",
  // LOCKED, READONLY, IOERR, CANTOPEN, PROTOCOL.
  6: "database_unavailable",
  8: "database_unavailable",
  10: "database_unavailable",
  14: "database_unavailable",
  15: "database_unavailable",
  // CORRUPT, NOTADB.
  11: "database_damaged",
  26: "database_damaged",
  // FULL, and IOERR_SHMSIZE, which opening a file on a full disk returns.
  13: "storage_full",
  4874: "storage_full",
};
// https://www.postgresql.org/docs/current/errcodes-appendix.html, by code or class.
const POSTGRES_FAULTS: Readonly<Record<string, Fault>> = {
  "53100": "storage_full",
  XX001: "database_damaged",
  XX002: "database_damaged",
  // Cancelled by timeout, lock not granted in time, read-only server.
  "57014": "database_unavailable",
  "55P03": "database_unavailable",
  "25006": "database_unavailable",
  // A table, or the key of a table, is missing: a dump is being loaded.
  "42P01": "database_unavailable",
  "42P10": "database_unavailable",
  // The server ended an idle transaction.
  "25P03": "database_unavailable",
  "25P04": "database_unavailable",
  // Connection lost, rolled back by the server, out of resources, shut down, failing disk.
  "08": "database_unavailable",
  "40": "database_unavailable",
  "53": "database_unavailable",
  "57": "database_unavailable",
  "58": "database_unavailable",
};

/** After the server's own wait. */
const LOCK_NOT_AVAILABLE = "55P03";

const property = (error: unknown, name: string): unknown => (error as Readonly<Record<string, unknown>> | null)?.[name];

export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  sqlite: {
    name: "sqlite",
    adapter: new SqliteAdapter(),
    compiler: new SqliteQueryCompiler(),
    introspector: (db) => new SqliteIntrospector(db),
    begin: "BEGIN IMMEDIATE",
    // A savepoint keeps the previous content of every changed page. Memory is faster, but 100,000 records need some 500
    // MB.
    undo: { large: "PRAGMA temp_store = FILE", usual: "PRAGMA temp_store = MEMORY" },
    beginSnapshot: "BEGIN",
    forUpdate: "",
    hasTables: "SELECT 1 AS found FROM sqlite_master WHERE name = 'schema_migrations'",
    isWhole: null,
    // Copies of a file cannot be distinguished: a restored one is recognized by its revision, compared with the last good copy beside it.
    identity: "'file'",
    text: "text",
    integer: "integer",
    migrationLock: null,
    looseReferences: { begin: "PRAGMA foreign_keys = OFF", end: "PRAGMA foreign_keys = ON" },
    tableOptions: "STRICT",
    clusteredTableOptions: "STRICT, WITHOUT ROWID",
    placeholder: () => "?",
    isBusy: (error) => (Number(property(error, "errcode")) & 0xff) === SQLITE_BUSY,
    isUniqueViolation: (error) => SQLITE_UNIQUE_VIOLATIONS.includes(Number(property(error, "errcode"))),
    fault: (error) => {
      const code = Number(property(error, "errcode"));
      return SQLITE_FAULTS[code] ?? SQLITE_FAULTS[code & 0xff] ?? null;
    },
    // Garbage in a file's header looks like a schema of another format, with the same error code as a wrong query.
    unreadable: (error) =>
      Number(property(error, "errcode")) === SQLITE_ERROR ? new PlatformError("database_damaged", { cause: error }) : error,
  },
  postgres: {
    name: "postgres",
    adapter: new PostgresAdapter(),
    compiler: new PostgresQueryCompiler(),
    introspector: (db) => new PostgresIntrospector(db),
    begin: "BEGIN",
    undo: null,
    beginSnapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    forUpdate: " FOR UPDATE",
    hasTables: "SELECT to_regclass('schema_migrations') IS NOT NULL AS found",
    // pg_restore and psql create keys after all rows, and foreign keys last.
    isWhole: "SELECT EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass('zones')) AS found",
    // A database restored from a dump has other identifiers; point-in-time recovery and failover begin a new timeline,
    // which is the start of WAL file names.
    identity:
      "(SELECT oid FROM pg_database WHERE datname = current_database())::text || '/' || 'counters'::regclass::oid::text || '/' || CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END",
    text: 'text COLLATE "C"',
    integer: "bigint",
    // Any number works, as long as every node uses the same.
    looseReferences: null,
    migrationLock: "SELECT pg_advisory_xact_lock(7355608801)",
    tableOptions: "",
    clusteredTableOptions: "",
    placeholder: (position) => `$${position}`,
    isBusy: (error) => property(error, "code") === LOCK_NOT_AVAILABLE,
    isUniqueViolation: (error) => property(error, "code") === "23505",
    fault: (error) => {
      if (error instanceof DatabaseUnreachable) return "database_unavailable";
      const code = String(property(error, "code"));
      return POSTGRES_FAULTS[code] ?? POSTGRES_FAULTS[code.slice(0, 2)] ?? null;
    },
    unreadable: (error) => error,
  },
};

/** The error for callers: a fault of the database as its code, any other error unchanged. */
export function withFault(dialect: Dialect, error: unknown): unknown {
  const fault = dialect.fault(error);
  return fault === null ? error : new PlatformError(fault, { cause: error });
}

/** Whether a write failed because a row with the same key exists, on either dialect. */
export const isUniqueViolation = (error: unknown): boolean => Object.values(DIALECTS).some((dialect) => dialect.isUniqueViolation(error));
