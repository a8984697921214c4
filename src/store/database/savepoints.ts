import type { RunQuery } from "#store/queries/kysely-over.ts";
import { type Dialect, queryTogether, type Session, type Statement } from "#store/queries/session.ts";

/** Undoes single units of a transaction. The statements for it go with the next one of the next unit, so that they take no round trip. */
export interface Savepoints {
  begin(): Savepoint;
  /** Statements that remain before the commit. */
  ends(): readonly Statement[];
}

export interface Savepoint {
  readonly query: RunQuery;
  /** Keeps what the unit did. Rejects if the server has undone it, because the unit ignored a failed statement. */
  release(dialect: Dialect): Promise<void>;
  /** Undoes it; a unit that is alone is undone with its transaction. */
  undo(): Promise<void>;
}

const SAVEPOINT = { sql: "SAVEPOINT unit" };
const RELEASE = { sql: "RELEASE SAVEPOINT unit" };
const UNDO = { sql: "ROLLBACK TO SAVEPOINT unit" };

export function createSavepoints(session: Session, isAlone: boolean): Savepoints {
  let waiting: readonly Statement[] = [];
  const taken = (): readonly Statement[] => {
    const statements = waiting;
    waiting = [];
    return statements;
  };
  return {
    begin: () => {
      let isBegun = isAlone;
      let hasFailed = false;
      return {
        query: async (sql, parameters) => {
          const before = isBegun ? [] : [...taken(), SAVEPOINT];
          isBegun = true;
          try {
            return await (before.length === 0 ? session.query(sql, parameters) : queryTogether(session, [...before, { sql, parameters }]));
          } catch (error) {
            hasFailed = true;
            throw error;
          }
        },
        release: async (dialect) => {
          // PostgreSQL refuses everything after an error until it is undone.
          if (hasFailed) await session.query(dialect.hasTables);
          if (isBegun && !isAlone) waiting = [RELEASE];
        },
        undo: async () => {
          if (isBegun && !isAlone) await queryTogether(session, [...taken(), UNDO, RELEASE]);
        },
      };
    },
    ends: taken,
  };
}
