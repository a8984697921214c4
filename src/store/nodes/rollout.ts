import type { Kysely, Selectable } from "kysely";
import type { RolloutTable } from "#store/tables/nodes.ts";
import type { Tables } from "#store/queries/tables.ts";

export type RolloutRow = Omit<Selectable<RolloutTable>, "id">;

const NOTHING: RolloutRow = { history: "", released: -1, paused: null, paused_on: null };

export const rolloutRow = async (db: Kysely<Tables>): Promise<RolloutRow> =>
  (await db.selectFrom("rollout").select(["history", "released", "paused", "paused_on"]).where("id", "=", 1).executeTakeFirst()) ?? NOTHING;

export async function changeRollout(db: Kysely<Tables>, change: Partial<RolloutRow>): Promise<void> {
  await db
    .insertInto("rollout")
    .values({ id: 1, ...NOTHING, ...change })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(change))
    .execute();
}
