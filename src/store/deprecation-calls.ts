import { type Kysely, sql } from "kysely";
import type { DeprecationCallsTable, Tables } from "#store/tables.ts";

/** Adds to the counts that are there. */
export async function addDeprecationCalls(db: Kysely<Tables>, rows: readonly DeprecationCallsTable[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    await db
      .insertInto("deprecation_calls")
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .onConflict((conflict) =>
        conflict
          .columns(["day", "deprecation_id", "token_id", "route"])
          .doUpdateSet({ calls: sql`deprecation_calls.calls + excluded.calls` }),
      )
      .execute();
  }
}

/** Five parameters a row; SQLite's limit is 32,766. */
const ROWS_PER_STATEMENT = 500;

export const listDeprecationCalls = (db: Kysely<Tables>): Promise<DeprecationCallsTable[]> =>
  db.selectFrom("deprecation_calls").selectAll().orderBy("day").orderBy("deprecation_id").orderBy("token_id").orderBy("route").execute();
