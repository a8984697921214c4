import { type Kysely, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { DeprecationCallsTable, DeprecationNoticesTable } from "#store/tables/deprecations.ts";
import type { Tables } from "#store/queries/tables.ts";

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

/** With the current caller; both null for a deleted token, and for a user. */
export type NamedCalls = DeprecationCallsTable & { readonly token_name: string | null; readonly api_date: string | null };

/** A caller of a deprecated part, with the API date that applies to it. */
export interface EndingCaller {
  readonly deprecation_id: string;
  readonly token_id: string;
  readonly token_name: string | null;
  readonly pin: string | null;
  readonly route: string;
  readonly calls: number;
}

const CALLERS_MAX = 1000;

/** The callers of these rows on a day or later, the most calls first. */
export async function callersOfEnding(
  db: Kysely<Tables>,
  accountId: string,
  since: string,
  ids: readonly string[],
): Promise<readonly EndingCaller[]> {
  const rows = await db
    .selectFrom("deprecation_calls as called")
    .leftJoin("tokens", "tokens.id", "called.token_id")
    .leftJoin("accounts", "accounts.id", "called.account_id")
    .select((eb) => [
      ...(["called.deprecation_id", "called.token_id", "called.route", "tokens.name as token_name"] as const),
      eb.fn.coalesce("tokens.api_date", "accounts.api_date").as("pin"),
      eb.fn.sum("called.calls").as("calls"),
    ])
    .where("called.account_id", "=", accountId)
    .where("called.day", ">=", since)
    .where("called.deprecation_id", "in", ids)
    .groupBy(["called.deprecation_id", "called.token_id", "called.route", "tokens.name", "tokens.api_date", "accounts.api_date"])
    .orderBy("calls", "desc")
    .limit(CALLERS_MAX)
    .execute();
  return rows.map((row) => ({ ...row, calls: Number(row.calls) }));
}

/** Records that an account was notified. False if any node notified it before. */
export async function addDeprecationNotice(db: Kysely<Tables>, row: DeprecationNoticesTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto("deprecation_notices")
    .values(row)
    .onConflict((conflict) => conflict.columns(["account_id", "deprecation_id", "days_left"]).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** Newest day first. */
export async function deprecationCallsOfAccount(
  db: Kysely<Tables>,
  accountId: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ rows: NamedCalls[]; total: number }> {
  const ofAccount = db.selectFrom("deprecation_calls").where("deprecation_calls.account_id", "=", accountId);
  const { total } = await ofAccount.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  const rows = await ofAccount
    .leftJoin("tokens", "tokens.id", "deprecation_calls.token_id")
    .selectAll("deprecation_calls")
    .select(["tokens.name as token_name", "tokens.api_date as api_date"])
    .orderBy("day", "desc")
    .orderBy("deprecation_id")
    .orderBy("token_id")
    .orderBy("route")
    .offset(offset)
    .limit(limit)
    .execute();
  return { rows, total };
}

export const deleteDeprecationCalls = (db: Kysely<Tables>, before: string): Promise<void> =>
  deleteInChunks(db, {
    table: "deprecation_calls",
    key: ["account_id", "day", "deprecation_id", "token_id", "route"],
    where: sql`day < ${before}`,
  });
