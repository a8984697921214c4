import { type Insertable, type Kysely, type Selectable, type Updateable, sql } from "kysely";
import { deleteInChunks, deleteOwned } from "#store/queries/in-chunks.ts";
import type { RulesetsTable } from "#store/tables/rulesets.ts";
import type { Tables } from "#store/queries/tables.ts";

export type RulesetRow = Selectable<RulesetsTable>;
export type RulesetLevel = "account" | "zone";

/** A ruleset as in lists: without its rules, which may be large. */
export type RulesetHead = Omit<RulesetRow, "rules">;

/** The owner of rulesets: an account or a zone. */
export interface RulesetOwner {
  readonly level: RulesetLevel;
  readonly owner_id: string;
}

const HEAD = ["id", "level", "owner_id", "name", "description", "kind", "phase", "version", "last_updated"] as const;

const owned = (db: Kysely<Tables>, owner: RulesetOwner) =>
  db.selectFrom("rulesets").where("level", "=", owner.level).where("owner_id", "=", owner.owner_id);

export const rulesetById = (db: Kysely<Tables>, owner: RulesetOwner, id: string): Promise<RulesetRow | undefined> =>
  owned(db, owner).selectAll().where("id", "=", id).executeTakeFirst();

/** The ruleset that the phase runs; custom rulesets run only if a rule executes them. */
export const entryPoint = (db: Kysely<Tables>, owner: RulesetOwner, phase: string): Promise<RulesetRow | undefined> =>
  owned(db, owner).selectAll().where("phase", "=", phase).where("kind", "in", ["zone", "root"]).executeTakeFirst();

/** By id. */
export const rulesetsOf = (db: Kysely<Tables>, owner: RulesetOwner): Promise<RulesetHead[]> =>
  owned(db, owner).select(HEAD).orderBy("id").execute();

/** All rulesets of these accounts and zones, with their rules. */
export const rulesetsWithRules = (db: Kysely<Tables>, owners: readonly string[]): Promise<RulesetRow[]> =>
  db.selectFrom("rulesets").selectAll().where("owner_id", "in", owners).orderBy("id").execute();

/** Rulesets of the account and all its zones. */
const ofAccount = (db: Kysely<Tables>, accountId: string) =>
  db
    .selectFrom("rulesets")
    .selectAll()
    .where((where) =>
      where.or([
        where("owner_id", "=", accountId),
        where("owner_id", "in", where.selectFrom("zones").select("id").where("account_id", "=", accountId)),
      ]),
    )
    .orderBy("id");

/** Bytes of the rules of all rulesets of the account and its zones. Neither database reads the texts for their lengths. */
export async function rulesBytesOf(db: Kysely<Tables>, accountId: string): Promise<number> {
  const { bytes } = await ofAccount(db, accountId)
    .clearSelect()
    .clearOrderBy()
    .select(sql<number | null>`sum(octet_length(rules))`.as("bytes"))
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

/** Rulesets with a rule that may contain the text, which must not contain LIKE wildcards; the caller checks the rules. */
export const rulesetsNaming = (db: Kysely<Tables>, accountId: string, text: string): Promise<RulesetRow[]> =>
  ofAccount(db, accountId).where("rules", "like", `%${text}%`).execute();

/** Rulesets with a rule that may refer to a list. */
export const rulesetsNamingLists = (db: Kysely<Tables>, accountId: string): Promise<RulesetRow[]> =>
  ofAccount(db, accountId)
    .where((where) => where.or([where("rules", "like", "%$%"), where("rules", "like", "%from_list%")]))
    .execute();

export const allRulesets = (db: Kysely<Tables>): Promise<RulesetRow[]> => db.selectFrom("rulesets").selectAll().orderBy("id").execute();

export async function insertRuleset(db: Kysely<Tables>, row: Insertable<RulesetsTable>): Promise<void> {
  await db.insertInto("rulesets").values(row).execute();
}

export async function updateRuleset(db: Kysely<Tables>, id: string, values: Updateable<RulesetsTable>): Promise<void> {
  await db.updateTable("rulesets").set(values).where("id", "=", id).execute();
}

export async function deleteRuleset(db: Kysely<Tables>, id: string): Promise<void> {
  await deleteOwned(db, "rulesets", sql`id = ${id}`);
  await db.deleteFrom("rulesets").where("id", "=", id).execute();
}

/** Rulesets per statement; each contains all its rules. */
const RULESETS_AT_ONCE = 10;

export async function deleteRulesetsOf(db: Kysely<Tables>, owner: RulesetOwner): Promise<void> {
  const where = sql`level = ${owner.level} AND owner_id = ${owner.owner_id}`;
  await deleteOwned(db, "rulesets", where);
  await deleteInChunks(db, { table: "rulesets", key: ["id"], where }, RULESETS_AT_ONCE);
}
