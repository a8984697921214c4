import { existsSync, statSync } from "node:fs";
import { isFile, openBackend, sqlitePath } from "./backends/backend.ts";
import { explained } from "./database-fault.ts";
import { CHECK_NAME } from "./key-file.ts";

/** The state of a database, read without changing it. */
export interface DatabaseState {
  /** The database exists, so its data belongs to an existing sealing key. */
  readonly exists: boolean;
  readonly isFile: boolean;
  /** Null if the database does not exist; its history is null if an older program made it. */
  readonly position: { readonly history: string | null; readonly rev: number } | null;
  /** Version of its schema; 0 if there is none. */
  readonly schema: number;
  /** The value that its sealing key has sealed (`verifyKey`); null if no start has stored it. */
  readonly keyCheck: string | null;
  /** Whether the first token still has the secret that the first start printed. */
  readonly hasFirstToken: boolean;
}

/** Throws DatabaseFault if the database cannot be read. */
export async function inspectDatabase(url: string): Promise<DatabaseState> {
  const none = { exists: false, isFile: isFile(url), position: null, schema: 0, keyCheck: null, hasFirstToken: false };
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
      const [latest] = (await session.query("SELECT max(version) AS version FROM schema_migrations")).rows;
      const [check] = (await session.query(`SELECT value FROM secrets WHERE name = '${CHECK_NAME}'`)).rows;
      const keyCheck = typeof check?.["value"] === "string" ? check["value"] : null;
      const hasFirstToken = (await session.query("SELECT id FROM tokens WHERE bootstrap = 1 LIMIT 1")).rows.length > 0;
      return { ...none, exists: true, position, schema: Number(latest?.["version"] ?? 0), keyCheck, hasFirstToken };
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
