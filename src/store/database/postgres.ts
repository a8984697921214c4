import pg from "pg";
import { DatabaseUnreachable, type Rows, type Session } from "#store/queries/session.ts";

/** Connections to a PostgreSQL server. Every wait has an end. */
export interface Postgres {
  /** Runs one statement on any connection. */
  query(sql: string, parameters?: readonly unknown[]): Promise<Rows>;
  /** A connection of one's own, for transactions. */
  connect(options: SessionOptions): Promise<Session>;
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Longest a single statement may take. */
  readonly statementTimeoutMs: number;
  /** Longest that the server waits for the next statement of a transaction. */
  readonly idleTimeoutMs?: number;
}

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const LOCK_TIMEOUT_MS = 10_000;
/** What reads slowly holds nobody up. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
/** A node that is frozen or cut off inside its transaction holds the revision lock, for which every writer waits. */
export const WRITER_IDLE_TIMEOUT_MS = 2_000;
/** The server's own limit strikes first; this one is for a server that does not answer at all. */
const ANSWER_GRACE_MS = 5_000;

// Counts are bigint and sums numeric, which pg gives as text. Ours fit a number, and rows must read as on SQLite.
const NUMBER_OIDS: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (NUMBER_OIDS.includes(oid) && format !== "binary" ? Number : pg.types.getTypeParser(oid, format)),
};

export function createPostgres(url: string): Postgres {
  const config = (options: SessionOptions): pg.ClientConfig => ({
    connectionString: url,
    types,
    application_name: "selvedge",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + ANSWER_GRACE_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: options.idleTimeoutMs ?? IDLE_IN_TRANSACTION_TIMEOUT_MS,
  });
  const pool = new pg.Pool({ ...config({ statementTimeoutMs: STATEMENT_TIMEOUT_MS }), max: CONNECTIONS_MAX });
  // An idle connection that breaks is replaced at the next query, which reports what fails then.
  pool.on("error", () => {});
  return {
    query: async (sql, parameters = []) => toRows(await answered(pool.query(sql, parameters as unknown[]))),
    connect: async (options) => {
      const client = new pg.Client(config(options));
      // The query that meets a broken connection rejects; without a listener the event would end the process.
      client.on("error", () => {});
      await answered(client.connect());
      return {
        query: async (sql, parameters = []) => toRows(await answered(client.query(sql, parameters as unknown[]))),
        close: () => client.end(),
      };
    },
    close: () => pool.end(),
  };
}

const toRows = ({ rows, rowCount }: pg.QueryResult): Rows => ({ rows, affected: rowCount ?? 0 });

/** The client library has no class for what is no answer of the server. */
async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof pg.DatabaseError || error instanceof TypeError ? error : new DatabaseUnreachable(error);
  }
}
