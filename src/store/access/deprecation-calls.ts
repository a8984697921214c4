import { type Kysely, sql } from "kysely";
import type { DeprecationCallsTable, Tables } from "#store/queries/tables.ts";

/** Adds to the stored counts. */
export async function addDeprecationCalls(db: Kysely<Tables>, rows: readonly DeprecationCallsTable[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    await db
      .insertInto("deprecation_calls")
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "day", "deprecation_id", "token_id", "route"])
          .doUpdateSet({ calls: sql`deprecation_calls.calls + excluded.calls` }),
      )
      .execute();
  }
}

/** A row has six parameters; SQLite allows 32,766. */
const ROWS_PER_STATEMENT = 500;

/** Newest day first. */
export async function deprecationCallsOfAccount(
  db: Kysely<Tables>,
  accountId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ rows: DeprecationCallsTable[]; total: number }> {
  const ofAccount = db.selectFrom("deprecation_calls").where("account_id", "=", accountId);
  const { total } = await ofAccount.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  const rows = await ofAccount
    .selectAll()
    .orderBy("day", "desc")
    .orderBy("deprecation_id")
    .orderBy("token_id")
    .orderBy("route")
    .offset(offset)
    .limit(limit)
    .execute();
  return { rows, total };
}
