import { type Kysely, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import { findAccount } from "./accounts.ts";
import type { RecordedCallsTable } from "#store/tables/deprecations.ts";
import type { Tables } from "#store/queries/tables.ts";

/** Adds to the counts; a form that is new on its day is dropped once the account has `formsMax` of that day. */
export async function addRecordedCalls(db: Kysely<Tables>, rows: readonly RecordedCallsTable[], formsMax: number): Promise<void> {
  for (const sameDay of Map.groupBy(rows, ({ account_id, day }) => `${account_id} ${day}`).values()) {
    const [first] = sameDay;
    // Calls are written late: the account may be gone by then.
    if (first === undefined || (await findAccount(db, first.account_id)) === undefined) continue;
    const known = await db
      .selectFrom("recorded_calls")
      .select(["token_id", "route", "shape_hash"])
      .where("account_id", "=", first.account_id)
      .where("day", "=", first.day)
      .execute();
    const forms = new Set(known.map(formOf));
    const kept = sameDay.filter((row) => forms.has(formOf(row)) || (forms.size < formsMax && forms.add(formOf(row))));
    await insertAll(db, kept);
  }
}

const formOf = ({ token_id, route, shape_hash }: Pick<RecordedCallsTable, "token_id" | "route" | "shape_hash">): string =>
  `${token_id} ${route} ${shape_hash}`;

/** Eight parameters a row; SQLite's limit is 32,766. */
const ROWS_PER_STATEMENT = 100;

async function insertAll(db: Kysely<Tables>, rows: readonly RecordedCallsTable[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    await db
      .insertInto("recorded_calls")
      .values(rows.slice(from, from + ROWS_PER_STATEMENT))
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "day", "token_id", "route", "shape_hash"])
          .doUpdateSet({ calls: sql`recorded_calls.calls + excluded.calls` }),
      )
      .execute();
}

export type NamedRecordedCall = RecordedCallsTable & { readonly token_name: string | null };

/** The account's calls since a day, newest first. */
export const recordedCallsOf = (db: Kysely<Tables>, accountId: string, since: string, limit: number): Promise<NamedRecordedCall[]> =>
  db
    .selectFrom("recorded_calls")
    .leftJoin("tokens", "tokens.id", "recorded_calls.token_id")
    .selectAll("recorded_calls")
    .select("tokens.name as token_name")
    .where("recorded_calls.account_id", "=", accountId)
    .where("recorded_calls.day", ">=", since)
    .orderBy("recorded_calls.day", "desc")
    .limit(limit)
    .execute();

export const deleteRecordedCalls = (db: Kysely<Tables>, before: string): Promise<void> =>
  deleteInChunks(db, {
    table: "recorded_calls",
    key: ["account_id", "day", "token_id", "route", "shape_hash"],
    where: sql`day < ${before}`,
  });
