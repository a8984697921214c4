import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Tables } from "#store/queries/tables.ts";

/** An account, or a user or token outside of accounts, with the rows that it has above the limit. */
export interface AuditExcess {
  readonly owner: { readonly account: string } | { readonly actor: string };
  readonly rows: number;
}

/** Owners of more rows than the limit. */
export async function auditExcesses(db: Kysely<Tables>, rowsMax: number): Promise<readonly AuditExcess[]> {
  const accounts = await db
    .selectFrom("list_states")
    .select(["owner", "row_count"])
    .where("list", "=", "audit_log")
    .where("row_count", ">", rowsMax)
    .execute();
  const actors = await db
    .selectFrom("audit_log")
    .select((eb) => ["actor_id", eb.fn.countAll<number>().as("rows")])
    .where("account_id", "is", null)
    .groupBy("actor_id")
    .having((eb) => eb(eb.fn.countAll(), ">", rowsMax))
    .execute();
  return [
    ...accounts.map(({ owner, row_count }) => ({ owner: { account: owner }, rows: Number(row_count) - rowsMax })),
    ...actors.map(({ actor_id, rows }) => ({ owner: { actor: actor_id }, rows: Number(rows) - rowsMax })),
  ];
}

/** Deletes up to `most` of the owner's oldest rows. */
export async function deleteOldestAudits(db: Kysely<Tables>, owner: AuditExcess["owner"], most: number): Promise<void> {
  await deleteSome(
    db,
    "account" in owner ? sql`account_id = ${owner.account}` : sql`account_id IS NULL AND actor_id = ${owner.actor}`,
    most,
  );
}

/** Deletes up to `most` rows with identifiers below this one, which follow the time. Returns how many it has deleted. */
export const deleteAuditsBefore = (db: Kysely<Tables>, id: string, most: number): Promise<number> => deleteSome(db, sql`id < ${id}`, most);

async function deleteSome(db: Kysely<Tables>, where: RawBuilder<unknown>, most: number): Promise<number> {
  const some = sql`SELECT id FROM audit_log WHERE ${where} ORDER BY id LIMIT ${sql.lit(most)}`;
  const { numAffectedRows = 0n } = await sql`DELETE FROM audit_log WHERE id IN (${some})`.execute(db);
  return Number(numAffectedRows);
}
