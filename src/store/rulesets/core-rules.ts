import type { Kysely, Selectable } from "kysely";
import type { CoreRulesTable } from "#store/tables/rulesets.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CoreRulesRow = Omit<Selectable<CoreRulesTable>, "id">;

/** Undefined if control never had to say which Core Rule Set it uses. */
export const coreRulesRow = (db: Kysely<Tables>): Promise<CoreRulesRow | undefined> =>
  db.selectFrom("core_rules").select(["digest", "version", "format", "program", "modified_on"]).where("id", "=", 1).executeTakeFirst();

export async function putCoreRules(db: Kysely<Tables>, row: CoreRulesRow): Promise<void> {
  await db
    .insertInto("core_rules")
    .values({ id: 1, ...row })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
    .execute();
}
