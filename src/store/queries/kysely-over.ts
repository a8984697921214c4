import { type CompiledQuery, type DatabaseConnection, Kysely } from "kysely";
import type { Dialect, Rows } from "./session.ts";
import type { Tables } from "./tables.ts";

/** Runs a compiled query for Kysely. The provider decides on which connection, and for how long. */
export type RunQuery = (sql: string, parameters: readonly unknown[]) => Promise<Rows>;

/** Called with the structure of each query before it runs. */
export type SeeQuery = (query: CompiledQuery["query"]) => void;

/** A Kysely that runs every query through `run` and refuses to manage transactions itself. */
export function kyselyOver(dialect: Dialect, run: RunQuery, see?: SeeQuery): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>(query: CompiledQuery) => {
      see?.(query.query);
      const { rows, affected } = await run(query.sql, query.parameters);
      return { rows: rows as R[], numAffectedRows: BigInt(affected) };
    },
    streamQuery: () => {
      throw new Error("the store does not stream rows: page through them by key");
    },
  };
  const refuse = async (): Promise<never> => {
    throw new Error("transactions are the store's: use store.write or store.readAt");
  };
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => dialect.adapter,
      createQueryCompiler: () => dialect.compiler,
      createIntrospector: (db) => dialect.introspector(db),
      createDriver: () => ({
        init: async () => {},
        acquireConnection: async () => connection,
        beginTransaction: refuse,
        commitTransaction: refuse,
        rollbackTransaction: refuse,
        releaseConnection: async () => {},
        destroy: async () => {},
      }),
    },
  });
}
