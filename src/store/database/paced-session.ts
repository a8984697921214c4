import { setImmediate } from "node:timers/promises";
import type { Session, Statement } from "#store/queries/session.ts";

/**
 * Values that statements may take, write and return per tick. SQLite runs in the calling thread: a row of a record, with
 * its indexes, takes 0.1 ms.
 */
export const VALUES_AT_ONCE = 2_000;

/** A written or deleted row counts as this many values: those of a record, the most frequent kind. */
export const VALUES_PER_ROW = 26;

/**
 * A session of one transaction that yields to the event loop regularly, whichever caller queries and however many wait. Statements keep their order: one that
 * undoes a unit must not overtake those of the unit that wait.
 */
export function pacedSession(session: Session): Session {
  let left = VALUES_AT_ONCE;
  /** Whether the transaction has had a tick: its COMMIT, which writes all changed pages, takes about half of one. */
  let isLarge = false;
  let waiting = 0;
  let pause: Promise<void> | null = null;
  /** All that wait go on in one tick: they were asked in one. */
  const nextTick = async (): Promise<void> => {
    waiting++;
    pause ??= setImmediate().then(() => {
      left = VALUES_AT_ONCE;
      isLarge = true;
      pause = null;
    });
    await pause;
    waiting--;
  };
  return {
    query: async (sql, parameters = []) => {
      if (left <= 0 || waiting > 0 || (isLarge && sql === "COMMIT")) await nextTick();
      // Each statement has a fixed cost.
      left -= STATEMENT_VALUES + parameters.length;
      const { rows, affected, touched = 0 } = await session.query(sql, parameters);
      // An insert's values are already counted as parameters.
      left -= rows.length + Math.max(0, touched * VALUES_PER_ROW - parameters.length);
      return { rows, affected };
    },
    // Only of a server, which does the work elsewhere.
    ...(session.together && {
      together: async (statements: readonly Statement[]) => {
        if (left <= 0 || waiting > 0) await nextTick();
        const results = await session.together!(statements);
        for (const { parameters = [] } of statements) left -= STATEMENT_VALUES + parameters.length;
        for (const { rows } of results) left -= rows.length;
        return results;
      },
    }),
    close: () => session.close(),
  };
}

const STATEMENT_VALUES = 10;
