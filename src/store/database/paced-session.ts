import { setImmediate } from "node:timers/promises";
import type { Session } from "#store/queries/session.ts";

/**
 * Values that statements take, write and give between two turns of the event loop. SQLite works in the thread that calls it: a
 * row of a record, with its indexes, takes 0.1 ms.
 */
export const VALUES_AT_ONCE = 2_000;

/** A row that is written or deleted costs as much as so many values: those of a record, of which there are most. */
export const VALUES_PER_ROW = 26;

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
      const { rows, affected, touched = 0 } = await session.query(sql, parameters);
      // What an insert writes it was given.
      left -= rows.length + Math.max(0, touched * VALUES_PER_ROW - parameters.length);
      return { rows, affected };
    },
    close: () => session.close(),
  };
}

const STATEMENT_VALUES = 10;
