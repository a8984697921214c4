import { existsSync, statSync } from "node:fs";
import type { Kysely } from "kysely";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { beginWriting } from "./begin.ts";
import { type Checkpointer, createCheckpointer } from "./checkpointer.ts";
import { type CommitNews, createCommitNews } from "./commit-news.ts";
import { createGroupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { beginHistory, createHighestPosition, isContinued, isPartial, lockPosition, readPosition } from "./history.ts";
import type { Position, Store } from "./store.ts";
import { readChangesSince } from "./outbox.ts";
import { createStoreHealth, FAULT_REASONS } from "./health.ts";
import type { Absence } from "./lazy-store.ts";
import {
  type Dialect,
  type DialectName,
  DIALECTS,
  type Fault,
  kyselyOver,
  type Rows,
  type Session,
  withFault,
} from "#store/queries/session.ts";
import { fenced } from "./fence.ts";
import { createIntegrityCheck, type IntegrityCheck } from "./integrity-check.ts";
import { createSqliteThread } from "./sqlite-thread.ts";
import { createOpenFiles, type OpenFiles } from "./open-files.ts";
import { openSqlite } from "./sqlite.ts";
import type { Tables } from "#store/queries/tables.ts";

export interface StoreConfig {
  /** `sqlite:PATH` or `postgres://…`. */
  readonly url: string;
  readonly clock: Clock;
  /** Called if damage is found. A file is checked for two seconds before it is opened, and then in the background. */
  readonly onDamaged?: (finding: string) => void;
  /** Called once if a file of the database was replaced or removed; from then on nothing is written. */
  readonly onReplaced?: () => void;
}

/** Opens the database and applies migrations. Throws an Error whose message tells the operator what to do. */
export async function openStore({ url, clock, onDamaged, onReplaced }: StoreConfig): Promise<Store> {
  const backend = await openBackend(url);
  const check = onDamaged ? backend.integrityCheck() : null;
  try {
    await check?.soon(CHECK_WAIT_MS);
    const session = await backend.connect("migrate");
    try {
      await migrate(session, backend.dialect, clock);
      await ensureHistory(session, backend.dialect, clock);
    } finally {
      await session.close();
    }
    const condemned = check?.later() ?? null;
    const store = await createStore(backend, clock, { condemned, onReplaced });
    void condemned?.then((finding) => finding !== null && onDamaged?.(finding));
    return {
      ...store,
      close: async () => {
        await check?.close();
        await store.close();
      },
    };
  } catch (error) {
    await check?.close();
    await backend.close();
    throw explained(error, url, backend.dialect);
  }
}

const CHECK_WAIT_MS = 2_000;

/** Begins a history for a new database, and a new one for a database that was restored while it was closed. */
async function ensureHistory(session: Session, dialect: Dialect, clock: Clock): Promise<void> {
  await beginWriting(session, dialect, clock);
  const stored = await lockPosition(session, dialect);
  if (!stored.isOwn) await beginHistory(session, dialect, clock, stored, 0);
  await session.query("COMMIT");
}

/** The state of a database, read without changing it. */
export interface DatabaseState {
  /** The database exists, so its data belongs to an existing sealing key. */
  readonly exists: boolean;
  readonly isFile: boolean;
  /** Null if the database does not exist; its history is null if an older program made it. */
  readonly position: { readonly history: string | null; readonly rev: number } | null;
}

/** Throws DatabaseFault if the database cannot be read. */
export async function inspectDatabase(url: string): Promise<DatabaseState> {
  const none = { exists: false, isFile: isFile(url), position: null };
  if (isFile(url) && !(existsSync(sqlitePath(url)) && statSync(sqlitePath(url)).size > 0)) return none;
  const backend = await openBackend(url);
  try {
    // A read-only connection: closing a writing one would checkpoint the log of another process, even a damaged one.
    const session = await backend.connect("read");
    try {
      const { rows } = await session.query(backend.dialect.hasTables);
      if (rows.length === 0 || rows[0]?.["found"] === false) return none;
      const [counter] = (await session.query("SELECT * FROM counters WHERE name = 'rev'")).rows;
      const { value, history } = counter ?? {};
      const position = typeof value === "number" ? { rev: value, history: typeof history === "string" ? history : null } : null;
      return { ...none, exists: true, position };
    } finally {
      await session.close();
    }
  } catch (error) {
    throw explained(backend.dialect.unreadable(error), url, backend.dialect);
  } finally {
    await backend.close();
  }
}

/** Whether there is a database at `url` already. */
export const databaseExists = async (url: string): Promise<boolean> => (await inspectDatabase(url)).exists;

const isFile = (url: string): boolean => url.startsWith(SQLITE);

export const dialectOf = (url: string): DialectName => (isFile(url) ? "sqlite" : "postgres");

/** A database that cannot be used, with a message for the operator and a reason for clients. */
export class DatabaseFault extends Error {
  readonly absence: Absence;

  constructor(message: string, absence: Absence, cause?: unknown) {
    super(message, { cause });
    this.name = "DatabaseFault";
    this.absence = absence;
  }
}

/** Adds to the error which database it is and what the operator can do. */
function explained(error: unknown, url: string, dialect: Dialect): unknown {
  const fault = dialect.fault(error) ?? (error instanceof PlatformError ? (error.errorName as Fault) : null);
  const root = error instanceof PlatformError ? error.cause : error;
  if (fault === null || !(root instanceof Error)) return error;
  const where = isFile(url) ? sqlitePath(url) : url.replace(/\/\/[^@/]*@/, "//");
  const remedy = REMEDIES[fault] ?? "";
  const reason = FAULT_REASONS[fault] ?? FAULT_REASONS.database_unavailable;
  return new DatabaseFault(`cannot use the database ${where}: ${root.message}${remedy}`, { fault, reason }, error);
}

const REMEDIES: Readonly<Record<string, string>> = {
  database_damaged: "; restore it from a backup",
  storage_full: "; make room on its disk",
};

/** The differences between an SQLite file and a PostgreSQL server. */
interface Backend {
  readonly dialect: Dialect;
  /** `migrate` allows longer pauses than `write`, because no other writer runs yet and the machine may be busy at start. */
  connect(purpose: "write" | "read" | "migrate"): Promise<Session>;
  /** Commits of other processes. */
  news(heard: () => void): CommitNews;
  /** Opens the connection for `read`, once the schema exists. */
  reader(): Promise<Reader>;
  /** The connection for `scan`. */
  scanner(reader: Reader): Reader;
  /** Null if the server does this itself. */
  checkpointer(): Checkpointer | null;
  /** Null if the database is not a file. */
  openFiles(onReplaced: () => void): OpenFiles | null;
  integrityCheck(): IntegrityCheck | null;
  close(): Promise<void>;
}

interface Reader {
  query(sql: string, parameters: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
}

const SQLITE = "sqlite:";
const STATEMENT_TIMEOUT_MS = 15_000;
/** Rebuilding the snapshot reads whole tables. */
const REBUILD_STATEMENT_TIMEOUT_MS = 120_000;

async function openBackend(url: string): Promise<Backend> {
  if (url.startsWith(SQLITE)) {
    const path = sqlitePath(url);
    const connect = async (purpose: "write" | "read" | "migrate"): Promise<Session> => openSqlite(path, purpose);
    return {
      dialect: DIALECTS.sqlite,
      // A file has one process.
      news: () => ({ announce: async () => undefined, close: async () => undefined }),
      connect,
      reader: async () => {
        const reader = await connect("read");
        // From its first read on, a connection keeps others from removing the log when they close.
        await reader.query(DIALECTS.sqlite.hasTables);
        return reader;
      },
      scanner: () => createSqliteThread({ name: "store-scan", path, mode: "read" }),
      checkpointer: () => createCheckpointer(createSqliteThread({ name: "store-checkpoint", path, mode: "write" })),
      openFiles: (onReplaced) => createOpenFiles(path, onReplaced),
      integrityCheck: () => {
        const bytes = bytesOf(path) + bytesOf(`${path}-wal`);
        if (bytesOf(path) === 0) return null;
        return createIntegrityCheck(
          bytes <= CHECKED_HERE_BYTES_MAX
            ? checkHere(() => connect("read"))
            : createSqliteThread({ name: "store-check", path, mode: "read" }),
        );
      },
      close: async () => {},
    };
  }
  if (!/^postgres(ql)?:\/\//.test(url)) throw new Error("database.url must start with sqlite: or postgres://");
  const { createPostgres, WRITER_IDLE_TIMEOUT_MS } = await import("./postgres.ts");
  const server = createPostgres(url);
  return {
    dialect: DIALECTS.postgres,
    connect: (purpose) =>
      server.connect(
        purpose === "write"
          ? { statementTimeoutMs: STATEMENT_TIMEOUT_MS, idleTimeoutMs: WRITER_IDLE_TIMEOUT_MS }
          : { statementTimeoutMs: REBUILD_STATEMENT_TIMEOUT_MS },
      ),
    reader: async () => ({ query: server.query, close: async () => {} }),
    // The server runs outside this process, so scans do not block it.
    scanner: (reader) => reader,
    checkpointer: () => null,
    openFiles: () => null,
    integrityCheck: () => null,
    news: (heard) => createCommitNews(server.listen, heard),
    close: server.close,
  };
}

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** A file of this size is checked within some milliseconds; starting a thread takes longer. */
const CHECKED_HERE_BYTES_MAX = 4 * 1024 * 1024;

/** Answers in this thread, on a connection for one check. */
function checkHere(connect: () => Promise<Session>): Reader {
  let session: Session | undefined;
  return {
    query: async (sql, parameters) => (session = await connect()).query(sql, parameters),
    close: async () => {
      const opened = session;
      session = undefined;
      await opened?.close();
    },
  };
}

function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  if (path === "" || path.startsWith(":memory:")) throw new Error("database.url needs a file: several connections share it");
  return path;
}

const READS = /^(?:select|with)\b/i;

interface Watch {
  /** The damage that a complete check finds, or null. */
  readonly condemned: Promise<string | null> | null;
  readonly onReplaced: StoreConfig["onReplaced"];
}

async function createStore(backend: Backend, clock: Clock, { condemned, onReplaced }: Watch): Promise<Store> {
  const { dialect } = backend;
  let isDamaged = false;
  void condemned?.then((finding) => {
    isDamaged ||= finding !== null;
  });
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const news = backend.news(tell);
  const reader = await backend.reader();
  const scanner = backend.scanner(reader);
  /** Publishers look each second. */
  let wasPartial = false;
  const committedOnly = (from: Reader, isGuarded: boolean): Kysely<Tables> =>
    kyselyOver(dialect, async (sql, parameters) => {
      if (isGuarded && wasPartial) throw new PlatformError("database_unavailable", { cause: new Error("the database is being restored") });
      try {
        const found = await from.query(sql, parameters);
        // In a database that a dump is being loaded into, a row that is missing may only not be there yet.
        if (isGuarded && dialect.isWhole !== null && found.rows.length === 0 && READS.test(sql)) await position();
        return found;
      } catch (error) {
        const thrown = withFault(dialect, error);
        wasPartial ||= isPartial(thrown);
        throw thrown;
      }
    });
  const read = committedOnly(reader, true);
  const readAnyway = committedOnly(reader, false);
  const seen = createHighestPosition(clock);
  const checkpointer = backend.checkpointer();
  const files = backend.openFiles(() => onReplaced?.());
  let isFollowed = (): boolean => true;
  const writer = createGroupCommit({
    dialect,
    clock,
    seen,
    connect: () => backend.connect("write"),
    announce: (session) => news.announce(session),
    verify: () => files?.verify(),
    committed: async (session, hasNews) => {
      if (hasNews) tell();
      await checkpointer?.committed(session);
    },
    ...(checkpointer && { hasRoom: checkpointer.hasRoom }),
    isFollowed: () => isFollowed(),
  });
  const close = async (): Promise<void> => {
    // SQLite checkpoints the log when the last connection closes, which a read-only one cannot do, so the writer closes
    // last.
    await news.close();
    await scanner.close();
    await checkpointer?.close();
    await reader.close();
    await writer.close();
    await backend.close();
  };
  const writeUnlessDamaged: Store["write"] = async (work, options) => {
    // A write to a damaged file might be lost.
    if (isDamaged) throw new PlatformError("database_damaged");
    return writer.write(work, options);
  };
  const health = createStoreHealth({
    clock,
    write: async () =>
      void (await writeUnlessDamaged(({ db }) =>
        db
          .updateTable("counters")
          .set((eb) => ({ identity: eb.ref("identity") }))
          .where("name", "=", "rev")
          .execute(),
      )),
  });
  const write: Store["write"] = async (work, options) => {
    try {
      return await writeUnlessDamaged(fenced(work), options);
    } catch (error) {
      health.failed(error);
      throw error;
    }
  };
  let closing: Promise<void> | null = null;
  /** A write checks first whether the database was replaced. */
  const look = async (): Promise<void> => void (await writer.write(async () => {}));
  const readOwnPosition = async (db: Kysely<Tables>): Promise<Position | null> => {
    // Commits up to this query are included in the result.
    const before = seen.get();
    const stored = await readPosition(db, dialect);
    if (!isContinued(stored, before)) return null;
    const { history, rev } = stored;
    seen.note({ history, rev });
    return { history, rev };
  };
  const findPosition = async (): Promise<Position> => {
    const own = await readOwnPosition(readAnyway);
    if (own !== null) return own;
    await look();
    const { history, rev } = await readPosition(readAnyway, dialect);
    if (history === null) throw new Error("the database has no history");
    return { history, rev };
  };
  const position = async (): Promise<Position> => {
    try {
      const found = await findPosition();
      wasPartial = false;
      return found;
    } catch (error) {
      wasPartial = isPartial(error);
      throw error;
    }
  };
  return {
    dialect: dialect.name,
    read,
    scan: committedOnly(scanner, true),
    write,
    health: health.reason,
    readAt: async (work) => {
      // Detects a restore before data is read under the old history.
      await position();
      const session = await backend.connect("read").catch((error: unknown) => {
        throw withFault(dialect, error);
      });
      try {
        await session.query(dialect.beginSnapshot);
        const db = kyselyOver(dialect, session.query);
        const at = await readOwnPosition(db);
        if (at === null) throw new PlatformError("database_unavailable", { cause: new Error("the database was restored just now") });
        await writer.synced();
        return await work(db, at.rev, at.history);
      } catch (error) {
        throw withFault(dialect, error);
      } finally {
        // Closing ends the transaction, which was read-only.
        await session.close();
      }
    },
    revision: async () => (await position()).rev,
    position,
    changesSince: async (rev, limit, history) => {
      const sets = await readChangesSince(readAnyway, position, { rev, limit, history });
      // Planes, and the last good copy, must never be further than the database after a power cut.
      await writer.synced();
      // All nodes' commits are read here for this node's planes.
      for (const { changes } of sets ?? []) seen.noteSerials(changes);
      return sets;
    },
    renewHistory: async () => {
      seen.note({ history: (await position()).history, rev: Number.MAX_SAFE_INTEGER });
      return position();
    },
    followedBy: (asked) => {
      isFollowed = asked;
    },
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => (closing ??= close()),
  };
}
