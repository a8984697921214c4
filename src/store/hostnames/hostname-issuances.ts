import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { HostnameIssuancesTable } from "#store/tables/hostnames.ts";
import type { Tables } from "#store/queries/tables.ts";

type Db = Kysely<Tables>;

export type HostnameIssuancesRow = Selectable<HostnameIssuancesTable>;

export const hostnameIssuances = (db: Db, accountId: string): Promise<HostnameIssuancesRow | undefined> =>
  db.selectFrom("hostname_issuances").selectAll().where("account_id", "=", accountId).executeTakeFirst();

/** Deletes issuances up to `fromMs`, and those in the future, from a clock that was ahead; returns their number. */
export async function forgetIssuances(db: Db, accountId: string, { fromMs, nowMs }: { fromMs: number; nowMs: number }): Promise<number> {
  // few: the issuances of a minute, which are limited
  const gone = await db
    .deleteFrom("hostname_issuance_times")
    .where("account_id", "=", accountId)
    .where((eb) => eb.or([eb("at_ms", "<=", fromMs), eb("at_ms", ">", nowMs)]))
    .returning("taken")
    .execute();
  return gone.reduce((sum, { taken }) => sum + taken, 0);
}

/** Adds an issuance at this time, and sets the total. */
export async function addIssuance(db: Db, accountId: string, nowMs: number, taken: number): Promise<void> {
  await putRow(db, { account_id: accountId, taken, locked_until_ms: 0 });
  await db
    .insertInto("hostname_issuance_times")
    .values({ account_id: accountId, at_ms: nowMs, taken: 1 })
    .onConflict((conflict) =>
      conflict.columns(["account_id", "at_ms"]).doUpdateSet((eb) => ({ taken: eb("hostname_issuance_times.taken", "+", 1) })),
    )
    .execute();
}

/** Locks the account until the time and resets its counts. */
export async function lockIssuances(db: Db, accountId: string, untilMs: number): Promise<void> {
  await putRow(db, { account_id: accountId, taken: 0, locked_until_ms: untilMs });
  await deleteInChunks(db, { table: "hostname_issuance_times", key: ["account_id", "at_ms"], where: sql`account_id = ${accountId}` });
}

async function putRow(db: Db, row: HostnameIssuancesRow): Promise<void> {
  const { account_id: _, ...values } = row;
  await db
    .insertInto("hostname_issuances")
    .values(row)
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(values))
    .execute();
}
