import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { EventCountNodesTable, EventCountsTable } from "#store/tables/events.ts";
import type { Tables } from "#store/queries/tables.ts";

export type EventCountRow = Selectable<EventCountsTable>;
export type EventCountNode = Selectable<EventCountNodesTable>;

type Db = Kysely<Tables>;

/** Counts of every zone and node, in the hours that overlap the times. */
export const countsInTimes = (db: Db, kind: string, hours: { readonly fromMs: number; readonly toMs: number }): Promise<EventCountRow[]> =>
  db
    .selectFrom("event_counts")
    .selectAll()
    .where("kind", "=", kind)
    .where("hour_ms", ">=", hours.fromMs)
    .where("hour_ms", "<", hours.toMs)
    .execute();

/** Counts of one zone, of all services or of the named one. */
export const countsOfZone = (
  db: Db,
  of: { readonly kind: string; readonly zoneId: string; readonly service: string | null },
  hours: { readonly fromMs: number; readonly toMs: number },
): Promise<EventCountRow[]> => {
  const all = db.selectFrom("event_counts").selectAll().where("kind", "=", of.kind).where("zone_id", "=", of.zoneId);
  const some = of.service === null ? all : all.where("service", "=", of.service);
  return some.where("hour_ms", ">=", hours.fromMs).where("hour_ms", "<", hours.toMs).execute();
};

/** Inserts the rows or replaces them. */
export async function putCounts(db: Db, rows: readonly EventCountRow[]): Promise<void> {
  await db
    .insertInto("event_counts")
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(["kind", "zone_id", "service", "hour_ms", "node"]).doUpdateSet({ minutes: sql<string>`excluded.minutes` }),
    )
    .execute();
}

/** Zones for which the node has counts. */
export const zonesCounted = async (db: Db, node: string, kind: string): Promise<readonly string[]> =>
  (await db.selectFrom("event_counts").select("zone_id").distinct().where("node", "=", node).where("kind", "=", kind).execute()).map(
    ({ zone_id }) => zone_id,
  );

export const countNodes = (db: Db): Promise<EventCountNode[]> => db.selectFrom("event_count_nodes").selectAll().execute();

export async function putCountNode(db: Db, row: EventCountNode): Promise<void> {
  await db
    .insertInto("event_count_nodes")
    .values(row)
    .onConflict((conflict) => conflict.column("node").doUpdateSet({ run: row.run, counted_ms: row.counted_ms }))
    .execute();
}

const deleteCounts = (db: Db, where: RawBuilder<unknown>): Promise<void> =>
  deleteInChunks(db, { table: "event_counts", key: ["kind", "zone_id", "service", "hour_ms", "node"], where });

/** Deletes the node's counts of hours outside the times. */
export async function deleteOwnCounts(db: Db, node: string, keep: { readonly beforeMs: number; readonly afterMs: number }): Promise<void> {
  await deleteCounts(db, sql`node = ${node} AND (hour_ms < ${keep.beforeMs} OR hour_ms > ${keep.afterMs})`);
}

/** Deletes counts of hours before the time, and nodes that have counted nothing since. */
export async function deleteCountsBefore(db: Db, beforeMs: number): Promise<void> {
  await deleteCounts(db, sql`hour_ms < ${beforeMs}`);
  // few: one for each node
  await db.deleteFrom("event_count_nodes").where("counted_ms", "<", beforeMs).execute();
}

const LOOKED = "alerts_looked_ms";

/** The end of the last window that any node evaluated. */
export const evaluatedUntil = async (db: Db): Promise<number | undefined> =>
  (await db.selectFrom("counters").select("value").where("name", "=", LOOKED).executeTakeFirst())?.value;

export async function putEvaluatedUntil(db: Db, endMs: number): Promise<void> {
  await db
    .insertInto("counters")
    .values({ name: LOOKED, value: endMs })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value: endMs }))
    .execute();
}

/** Pairs of account and zone id for the accounts. */
export const zoneIdsOf = async (db: Db, accountIds: readonly string[]): Promise<readonly (readonly [account: string, zone: string])[]> =>
  (await db.selectFrom("zones").select(["account_id", "id"]).where("account_id", "in", accountIds).execute()).map(({ account_id, id }) => [
    account_id,
    id,
  ]);
