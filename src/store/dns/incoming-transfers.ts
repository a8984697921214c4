import { type Kysely, type Selectable, type Updateable, sql } from "kysely";
import { updateInChunks } from "#store/queries/in-chunks.ts";
import type { IncomingTransferStatesTable } from "#store/tables/dns.ts";
import type { Tables } from "#store/queries/tables.ts";

type Db = Kysely<Tables>;

export type IncomingState = Selectable<IncomingTransferStatesTable>;

export const incomingState = (db: Db, zoneId: string): Promise<IncomingState | undefined> =>
  db.selectFrom("incoming_transfer_states").selectAll().where("zone_id", "=", zoneId).executeTakeFirst();

/**
 * Secondary zones whose check is due, the longest overdue first. A check later than `latestMs` also counts as due: it was
 * set by a clock that was ahead. Zones of the accounts in `without` are left out.
 */
export const dueIncoming = (
  db: Db,
  nowMs: number,
  latestMs: number,
  limit: number,
  without: readonly string[] = [],
): Promise<(Pick<IncomingState, "zone_id" | "next_check_ms"> & { account_id: string })[]> =>
  db
    .selectFrom("incoming_transfer_states")
    .innerJoin("zones", "zones.id", "incoming_transfer_states.zone_id")
    .select(["incoming_transfer_states.zone_id", "incoming_transfer_states.next_check_ms", "zones.account_id"])
    .where((eb) =>
      eb.or([eb("incoming_transfer_states.next_check_ms", "<=", nowMs), eb("incoming_transfer_states.next_check_ms", ">", latestMs)]),
    )
    .where("zones.type", "=", "secondary")
    .$if(without.length > 0, (query) => query.where("zones.account_id", "not in", without))
    .orderBy("incoming_transfer_states.next_check_ms")
    .limit(limit)
    .execute();

/** Claims the zone's check for this node until the time; false if another node has claimed it, or it has changed. */
export async function claimIncoming(db: Db, zoneId: string, seenMs: number, untilMs: number): Promise<boolean> {
  const claimed = await db
    .updateTable("incoming_transfer_states")
    .set({ next_check_ms: untilMs })
    .where("zone_id", "=", zoneId)
    .where("next_check_ms", "=", seenMs)
    .returning("zone_id")
    .executeTakeFirst();
  return claimed !== undefined;
}

/** Makes the zone's check due, and creates its state if needed. */
export async function beginIncoming(db: Db, zoneId: string, nowMs: number): Promise<void> {
  await db
    .insertInto("incoming_transfer_states")
    .values({ zone_id: zoneId, forced: 0, failures: 0, next_check_ms: nowMs })
    .onConflict((conflict) => conflict.column("zone_id").doUpdateSet({ next_check_ms: nowMs }))
    .execute();
}

/** Makes checks due for the account's zones whose last check failed. */
export async function retryIncoming(db: Db, accountId: string, nowMs: number): Promise<void> {
  await updateInChunks(db, {
    table: "incoming_transfer_states",
    key: ["zone_id"],
    set: sql`next_check_ms = ${nowMs}`,
    where: sql`failures > 0 AND next_check_ms > ${nowMs} AND zone_id IN (SELECT id FROM zones WHERE account_id = ${accountId})`,
  });
}

/** False if the zone's state no longer exists. */
export async function updateIncomingState(db: Db, zoneId: string, values: Updateable<IncomingTransferStatesTable>): Promise<boolean> {
  const updated = await db
    .updateTable("incoming_transfer_states")
    .set(values)
    .where("zone_id", "=", zoneId)
    .returning("zone_id")
    .executeTakeFirst();
  return updated !== undefined;
}

export async function deleteIncomingState(db: Db, zoneId: string): Promise<void> {
  await db.deleteFrom("incoming_transfer_states").where("zone_id", "=", zoneId).execute();
}
