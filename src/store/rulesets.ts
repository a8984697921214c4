import type { Insertable, Kysely, Selectable, Updateable } from "kysely";
import type { RulesetsTable, Tables } from "#store/tables.ts";

export type RulesetRow = Selectable<RulesetsTable>;
export type RulesetLevel = "account" | "zone";

/** Whose rulesets: an account's or a zone's. */
export interface RulesetOwner {
  readonly level: RulesetLevel;
  readonly owner_id: string;
}

const owned = (db: Kysely<Tables>, owner: RulesetOwner) =>
  db.selectFrom("rulesets").selectAll().where("level", "=", owner.level).where("owner_id", "=", owner.owner_id);

export const rulesetById = (db: Kysely<Tables>, owner: RulesetOwner, id: string): Promise<RulesetRow | undefined> =>
  owned(db, owner).where("id", "=", id).executeTakeFirst();

/** The one ruleset of the phase that runs by itself; custom rulesets run only where a rule executes them. */
export const entryPoint = (db: Kysely<Tables>, owner: RulesetOwner, phase: string): Promise<RulesetRow | undefined> =>
  owned(db, owner).where("phase", "=", phase).where("kind", "in", ["zone", "root"]).executeTakeFirst();

export const rulesetsOf = (db: Kysely<Tables>, owner: RulesetOwner): Promise<RulesetRow[]> =>
  owned(db, owner).orderBy("phase").orderBy("id").execute();

export const allRulesets = (db: Kysely<Tables>): Promise<RulesetRow[]> => db.selectFrom("rulesets").selectAll().orderBy("id").execute();

export async function insertRuleset(db: Kysely<Tables>, row: Insertable<RulesetsTable>): Promise<void> {
  await db.insertInto("rulesets").values(row).execute();
}

export async function updateRuleset(db: Kysely<Tables>, id: string, values: Updateable<RulesetsTable>): Promise<void> {
  await db.updateTable("rulesets").set(values).where("id", "=", id).execute();
}

export async function deleteRuleset(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("rulesets").where("id", "=", id).execute();
}

export async function deleteRulesetsOf(db: Kysely<Tables>, owner: RulesetOwner): Promise<void> {
  await db.deleteFrom("rulesets").where("level", "=", owner.level).where("owner_id", "=", owner.owner_id).execute();
}
