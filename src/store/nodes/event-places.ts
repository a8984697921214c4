import type { Kysely, Selectable } from "kysely";
import type { NodeEventPlacesTable } from "#store/tables/nodes.ts";
import type { Tables } from "#store/queries/tables.ts";

export type EventPlaceRow = Selectable<NodeEventPlacesTable>;

export const eventPlace = (db: Kysely<Tables>, node: string, source: string): Promise<EventPlaceRow | undefined> =>
  db.selectFrom("node_event_places").selectAll().where("node", "=", node).where("source", "=", source).executeTakeFirst();

export async function putEventPlace(db: Kysely<Tables>, row: EventPlaceRow): Promise<void> {
  const { epoch, segment, at, collector } = row;
  await db
    .insertInto("node_event_places")
    .values(row)
    .onConflict((conflict) => conflict.columns(["node", "source"]).doUpdateSet({ epoch, segment, at, collector }))
    .execute();
}

/** Whether another process has taken events of this source. */
export async function hasOtherCollector(db: Kysely<Tables>, source: string, collector: string): Promise<boolean> {
  const row = await db
    .selectFrom("node_event_places")
    .select("node")
    .where("source", "=", source)
    .where("collector", "!=", collector)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
