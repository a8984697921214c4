import type { Kysely, Selectable } from "kysely";
import type { RulesetRow } from "./rulesets.ts";
import type { RulesetVersionsTable } from "#store/tables/rulesets.ts";
import type { Tables } from "#store/queries/tables.ts";

export type RulesetVersionRow = Selectable<RulesetVersionsTable>;

/** Characters of all versions of a ruleset. A ruleset of a thousand long rules has four million. */
const VERSION_CHARS_MAX = 16_000_000;

/**
 * Stores the ruleset's current state as a version, and keeps the newest `kept` versions: fewer if they are long, but the newest
 * two in any case.
 */
export async function keepVersion(db: Kysely<Tables>, row: RulesetRow, kept: number): Promise<void> {
  const whole = Math.max(2, Math.floor(VERSION_CHARS_MAX / row.rules.length));

  const { id: ruleset_id, version, name, description, rules, last_updated } = row;
  await db.insertInto("ruleset_versions").values({ ruleset_id, version, name, description, rules, last_updated }).execute();
  // few: at most as many as there are versions of a ruleset (rules.versions_max)
  await db
    .deleteFrom("ruleset_versions")
    .where("ruleset_id", "=", ruleset_id)
    .where("version", "<=", version - Math.min(kept, whole))
    .execute();
}

/** Newest first, without their rules. */
export const versionsOf = (db: Kysely<Tables>, rulesetId: string): Promise<Omit<RulesetVersionRow, "rules">[]> =>
  db
    .selectFrom("ruleset_versions")
    .select(["ruleset_id", "version", "name", "description", "last_updated"])
    .where("ruleset_id", "=", rulesetId)
    .orderBy("version", "desc")
    .execute();

export const versionOf = (db: Kysely<Tables>, rulesetId: string, version: number): Promise<RulesetVersionRow | undefined> =>
  db.selectFrom("ruleset_versions").selectAll().where("ruleset_id", "=", rulesetId).where("version", "=", version).executeTakeFirst();

export async function deleteVersion(db: Kysely<Tables>, rulesetId: string, version: number): Promise<void> {
  await db.deleteFrom("ruleset_versions").where("ruleset_id", "=", rulesetId).where("version", "=", version).execute();
}
