import { setImmediate } from "node:timers/promises";
import type { Session } from "#store/queries/session.ts";

/**
 * Values that statements take and rows that they give between two turns of the event loop. SQLite works in the thread that calls
 * it: a row of a record, with its indexes, takes 0.1 ms.
 */
export const VALUES_AT_ONCE = 2_000;

/** Queries of a session that leave the event loop free now and then, whoever asks them and however many wait together. */
export function pacedSession(session: Session): Session {
  let left = VALUES_AT_ONCE;
  return {
    query: async (sql, parameters = []) => {
      if (left <= 0) {
        await setImmediate();
        left = VALUES_AT_ONCE;
      }
      // Each statement costs something by itself, whatever it takes.
      left -= STATEMENT_VALUES + parameters.length;
      const answer = await session.query(sql, parameters);
      left -= answer.rows.length;
      return answer;
    },
    close: () => session.close(),
  };
}

const STATEMENT_VALUES = 10;
