import { existsSync, statSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { beginWriting } from "./begin.ts";
import { type Checkpointer, createCheckpointer } from "./checkpointer.ts";
import { createGroupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { beginHistory, createSeenPosition, isContinued, lockPosition, type Position, readPosition } from "./history.ts";
import { readChangesSince } from "./outbox.ts";
import { type Dialect, DIALECTS, kyselyOver, type Rows, type Session, withFault } from "./session.ts";
import { createSqliteThread } from "./sqlite-thread.ts";
import { openSqlite } from "./sqlite.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export interface StoreConfig {
  /** `sqlite:PATH` or `postgres://…`. */
  readonly url: string;
  readonly clock: Clock;
}

/** Opens the database and brings its schema up to date. Throws an Error whose message an operator can act on. */
export async function openStore({ url, clock }: StoreConfig): Promise<Store> {
  const backend = await openBackend(url);
  try {
    const session = await backend.connect("write");
    try {
      await migrate(session, backend.dialect, clock);
      await ensureHistory(session, backend.dialect, clock);
    } finally {
      await session.close();
    }
    return await createStore(backend, clock);
  } catch (error) {
    await backend.close();
    throw explained(error, url, backend.dialect);
  }
}

/** A new database begins its history, and one that was restored while nobody had it open another one. */
async function ensureHistory(session: Session, dialect: Dialect, clock: Clock): Promise<void> {
  await beginWriting(session, dialect, clock);
  const stored = await lockPosition(session, dialect);
  if (!stored.isOwn) await beginHistory(session, dialect, clock, stored);
  await session.query("COMMIT");
}

/** Whether there is a database at `url` already, hence data that an existing sealing key belongs to. */
export async function databaseExists(url: string): Promise<boolean> {
  if (url.startsWith(SQLITE)) return existsSync(sqlitePath(url)) && statSync(sqlitePath(url)).size > 0;
  const backend = await openBackend(url);
  try {
    const session = await backend.connect("read");
    try {
      const { rows } = await session.query("SELECT to_regclass('schema_migrations') IS NOT NULL AS found");
      return rows[0]?.["found"] === true;
    } finally {
      await session.close();
    }
  } catch (error) {
    throw explained(error, url, backend.dialect);
  } finally {
    await backend.close();
  }
}

/** Says to an operator which database it is, and what helps. */
function explained(error: unknown, url: string, dialect: Dialect): unknown {
  const fault = dialect.fault(error) ?? (error instanceof PlatformError ? error.errorName : null);
  const root = error instanceof PlatformError ? error.cause : error;
  if (fault === null || !(root instanceof Error)) return error;
  const where = url.startsWith(SQLITE) ? sqlitePath(url) : url.replace(/\/\/[^@/]*@/, "//");
  const remedy = REMEDIES[fault] ?? "";
  return new Error(`cannot use the database ${where}: ${root.message}${remedy}`, { cause: error });
}

const REMEDIES: Readonly<Record<string, string>> = {
  database_damaged: "; restore it from a backup",
  storage_full: "; make room on its disk",
};

/** What differs between a file and a server. */
interface Backend {
  readonly dialect: Dialect;
  connect(purpose: "write" | "read"): Promise<Session>;
  /** Opens what `read` runs on, once the schema is there. */
  reader(): Promise<Reader>;
  /** What `scan` runs on. */
  scanner(reader: Reader): Reader;
  /** Null where the server sees to it. */
  checkpointer(): Checkpointer | null;
  close(): Promise<void>;
}

interface Reader {
  query(sql: string, parameters: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
}

const SQLITE = "sqlite:";
const STATEMENT_TIMEOUT_MS = 15_000;
/** Rebuilding every snapshot reads whole tables. */
const REBUILD_STATEMENT_TIMEOUT_MS = 120_000;

async function openBackend(url: string): Promise<Backend> {
  if (url.startsWith(SQLITE)) {
    const path = sqlitePath(url);
    const connect = async (purpose: "write" | "read"): Promise<Session> => openSqlite(path, purpose);
    return {
      dialect: DIALECTS.sqlite,
      connect,
      reader: () => connect("read"),
      scanner: () => createSqliteThread({ name: "store-scan", path, mode: "read" }),
      checkpointer: () => createCheckpointer(createSqliteThread({ name: "store-checkpoint", path, mode: "write" })),
      close: async () => {},
    };
  }
  if (!/^postgres(ql)?:\/\//.test(url)) throw new Error("database.url must start with sqlite: or postgres://");
  const { createPostgres } = await import("./postgres.ts");
  const server = createPostgres(url);
  return {
    dialect: DIALECTS.postgres,
    connect: (purpose) => server.connect({ statementTimeoutMs: purpose === "write" ? STATEMENT_TIMEOUT_MS : REBUILD_STATEMENT_TIMEOUT_MS }),
    reader: async () => ({ query: server.query, close: async () => {} }),
    // The server works beside this process anyway.
    scanner: (reader) => reader,
    checkpointer: () => null,
    close: server.close,
  };
}

function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  if (path === "" || path.startsWith(":memory:")) throw new Error("database.url needs a file: several connections share it");
  return path;
}

async function createStore(backend: Backend, clock: Clock): Promise<Store> {
  const { dialect } = backend;
  const listeners = new Set<() => void>();
  const reader = await backend.reader();
  const scanner = backend.scanner(reader);
  const committedOnly = (from: Reader): Kysely<Tables> =>
    kyselyOver(dialect, async (sql, parameters) => {
      try {
        return await from.query(sql, parameters);
      } catch (error) {
        throw withFault(dialect, error);
      }
    });
  const read = committedOnly(reader);
  const seen = createSeenPosition();
  const checkpointer = backend.checkpointer();
  const writer = createGroupCommit({
    dialect,
    clock,
    seen,
    connect: () => backend.connect("write"),
    committed: async (session, news) => {
      if (news) for (const listener of listeners) listener();
      await checkpointer?.committed(session);
    },
  });
  const close = async (): Promise<void> => {
    // SQLite folds its log into the file when the last connection closes, which a read-only one cannot do.
    await scanner.close();
    await checkpointer?.close();
    await reader.close();
    await writer.close();
    await backend.close();
  };
  let closing: Promise<void> | null = null;
  /** Every write looks first whether the database is still the one that it was. */
  const look = async (): Promise<void> => void (await writer.write(async () => {}));
  const readOwnPosition = async (db: Kysely<Tables>): Promise<Position | null> => {
    // What is committed while the database answers is seen before the answer is.
    const before = seen.get();
    const stored = await readPosition(db, dialect);
    if (!isContinued(stored, before)) return null;
    const { history, rev } = stored;
    seen.note({ history, rev });
    return { history, rev };
  };
  const position = async (): Promise<Position> => {
    const own = await readOwnPosition(read);
    if (own !== null) return own;
    await look();
    const { history, rev } = await readPosition(read, dialect);
    if (history === null) throw new Error("the database has no history");
    return { history, rev };
  };
  return {
    dialect: dialect.name,
    read,
    scan: committedOnly(scanner),
    write: writer.write,
    readAt: async (work) => {
      // A restore that nobody has noticed yet is, before anything is read under the history from before.
      await position();
      const session = await backend.connect("read").catch((error: unknown) => {
        throw withFault(dialect, error);
      });
      try {
        await session.query(dialect.beginSnapshot);
        const db = kyselyOver(dialect, session.query);
        const at = await readOwnPosition(db);
        if (at === null) throw new PlatformError("database_unavailable", { cause: new Error("the database was restored just now") });
        return await work(db, at.rev, at.history);
      } catch (error) {
        throw withFault(dialect, error);
      } finally {
        // Closing ends the transaction, which had nothing to commit.
        await session.close();
      }
    },
    revision: async () => (await position()).rev,
    position,
    changesSince: (rev, limit, history) => readChangesSince(read, position, { rev, limit, history }),
    renewHistory: async () => {
      seen.note({ history: (await position()).history, rev: Number.MAX_SAFE_INTEGER });
      return position();
    },
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => (closing ??= close()),
  };
}
