import pg from "pg";
import { DatabaseUnreachable, type Rows, type Session, type Statement } from "#store/queries/session.ts";
import { createStatementNames } from "./statement-names.ts";

/** Connections to a PostgreSQL server. Every wait has a timeout. */
export interface Postgres {
  /** Runs one statement on any connection. */
  query(sql: string, parameters?: readonly unknown[]): Promise<Rows>;
  /** Opens a separate connection, for transactions. */
  connect(options: SessionOptions): Promise<Session>;
  /** A connection that hears a channel; `heard` gets each payload, and `ended` is called once when it ends. */
  listen(channel: string, heard: (payload: string) => void, ended: () => void): Promise<{ close(): Promise<void> }>;
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Maximum time of a single statement. */
  readonly statementTimeoutMs: number;
  /** Maximum time that the server waits for the next statement of a transaction. */
  readonly idleTimeoutMs?: number;
}

const CONNECTIONS_MAX = 10;
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const LOCK_TIMEOUT_MS = 10_000;
/** For reading transactions: a slow reader blocks nobody. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
/** For writing transactions: a frozen or disconnected node would hold the revision lock, for which every writer waits. */
export const WRITER_IDLE_TIMEOUT_MS = 2_000;
/** The server's own timeout fires first; this one covers a server that does not respond. */
const ANSWER_GRACE_MS = 5_000;

// pg returns bigint counts and numeric sums as text. Ours fit a number, and rows must read as on SQLite.
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
  // An idle connection that breaks is replaced at the next query, which reports a persistent failure.
  pool.on("error", () => {});
  return {
    query: async (sql, parameters = []) => toRows(await answered(pool.query(sql, parameters as unknown[]))),
    connect: async (options) => {
      const client = new pg.Client({ ...config(options), pipeline: true });
      // The next query on a broken connection rejects; without a listener the event would end the process.
      client.on("error", () => {});
      await answered(client.connect());
      // A plan that fits a small table would stay while an import fills it.
      await answered(client.query("SET plan_cache_mode = force_custom_plan"));
      const nameOf = createStatementNames();
      const together = (statements: readonly Statement[]): Promise<readonly Rows[]> => sendTogether(client, statements, nameOf);
      return {
        query: async (sql, parameters = []) => (await together([{ sql, parameters }]))[0]!,
        together,
        close: () => client.end(),
      };
    },
    listen: async (channel, heard, ended) => {
      const client = new pg.Client(config({ statementTimeoutMs: STATEMENT_TIMEOUT_MS }));
      client.on("error", () => {});
      client.on("end", ended);
      client.on("notification", ({ payload = "" }) => heard(payload));
      await answered(client.connect());
      await answered(client.query(`LISTEN ${channel}`));
      return { close: () => client.end() };
    },
    close: () => pool.end(),
  };
}

/** One write to the socket for all statements of a tick, instead of one for each after the answer to the one before. */
async function sendTogether(
  client: pg.Client,
  statements: readonly Statement[],
  nameOf: (sql: string) => string | undefined,
): Promise<readonly Rows[]> {
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
  const sent = messagesOf(statements).map(({ sql, parameters = [] }) => {
    const name = parameters.length === 0 ? undefined : nameOf(sql);
    return answered(client.query({ text: sql, values: [...parameters], ...(name === undefined ? {} : { name }) }));
  });
  // Others fail because of the first one.
  for (const outcome of await Promise.allSettled(sent)) if (outcome.status === "rejected") throw outcome.reason;
  // A message of several statements has an array of results.
  const results = (await Promise.all(sent)).flat();
  if (statements.at(-1)?.sql === "COMMIT" && results.at(-1)?.command !== "COMMIT")
    throw new Error("the server has undone the transaction instead of committing it");
  return results.map(toRows);
}

/** Those without parameters that follow each other are one message. */
function messagesOf(statements: readonly Statement[]): readonly Statement[] {
  const messages: Statement[] = [];
  for (const { sql, parameters = [] } of statements) {
    const before = messages.at(-1);
    if (parameters.length > 0 || before === undefined || (before.parameters?.length ?? 0) > 0) messages.push({ sql, parameters });
    else messages[messages.length - 1] = { sql: `${before.sql};\n${sql}` };
  }
  return messages;
}

const toRows = ({ rows, rowCount }: pg.QueryResult): Rows => ({ rows, affected: rowCount ?? 0 });

/** pg has no error class for a missing response, so any other error means that the server is unreachable. */
async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof pg.DatabaseError || error instanceof TypeError ? error : new DatabaseUnreachable(error);
  }
}
