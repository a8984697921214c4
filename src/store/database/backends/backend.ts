import { type Dialect, type DialectName, DIALECTS, type Rows, type Session } from "#store/queries/session.ts";
import type { CommitListener } from "#store/queries/written.ts";
import { type Checkpointer, createCheckpointer } from "./checkpointer.ts";
import { type CommitNews, createCommitNews } from "./commit-news.ts";
import { createIntegrityCheck, type IntegrityCheck } from "./integrity-check.ts";
import { bytesOf, cutPageOf } from "./cut-page.ts";
import { createOpenFiles, type OpenFiles } from "./open-files.ts";
import { createSqliteThread } from "./sqlite-thread.ts";
import { openSqlite } from "./sqlite.ts";

const SQLITE = "sqlite:";

export const isFile = (url: string): boolean => url.startsWith(SQLITE);

export const dialectOf = (url: string): DialectName => (isFile(url) ? "sqlite" : "postgres");

/** The differences between an SQLite file and a PostgreSQL server. */
export interface Backend {
  readonly dialect: Dialect;
  /** `migrate` allows longer pauses than `write`, because no other writer runs yet and the machine may be busy at start. */
  connect(purpose: "write" | "read" | "migrate"): Promise<Session>;
  /** Commits of other processes. */
  news(heard: CommitListener): CommitNews;
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

export interface Reader {
  query(sql: string, parameters: readonly unknown[]): Promise<Rows>;
  close(): Promise<void>;
}

const STATEMENT_TIMEOUT_MS = 15_000;
/** Rebuilding the snapshot reads whole tables. */
const REBUILD_STATEMENT_TIMEOUT_MS = 120_000;

export async function openBackend(url: string): Promise<Backend> {
  if (isFile(url)) {
    const path = sqlitePath(url);
    const connect = async (purpose: "write" | "read" | "migrate"): Promise<Session> => openSqlite(path, purpose);
    return {
      dialect: DIALECTS.sqlite,
      // A file has one process.
      news: () => ({ announcement: () => null, close: async () => undefined }),
      connect,
      reader: async () => {
        const reader = await connect("read");
        // From its first read on, a connection keeps others from removing the log when they close.
        await reader.query(DIALECTS.sqlite.hasTables);
        return reader;
      },
      scanner: () => createSqliteThread({ name: "store-scan", path, mode: "read" }),
      checkpointer: () => createCheckpointer(createSqliteThread({ name: "store-checkpoint", path, mode: "checkpoint" })),
      openFiles: (onReplaced) => createOpenFiles(path, onReplaced),
      integrityCheck: () => {
        const bytes = bytesOf(path) + bytesOf(`${path}-wal`);
        if (bytesOf(path) === 0) return null;
        return createIntegrityCheck(
          bytes <= CHECKED_HERE_BYTES_MAX
            ? checkHere(() => connect("read"))
            : createSqliteThread({ name: "store-check", path, mode: "read" }),
          cutPageOf(path),
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

export function sqlitePath(url: string): string {
  const path = url.slice(SQLITE.length);
  if (path === "" || path.startsWith(":memory:")) throw new Error("database.url needs a file: several connections share it");
  return path;
}
