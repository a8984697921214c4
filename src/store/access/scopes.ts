import type { Kysely } from "kysely";
import type { Tables } from "#store/queries/tables.ts";

/** The zone in a request's path, with the fields that permissions and legacy responses need. */
export interface ZoneScope {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
  readonly account_name: string;
  readonly account_api_date: string | null;
  readonly plan: string;
}

export const zoneScope = (db: Kysely<Tables>, id: string): Promise<ZoneScope | undefined> =>
  db
    .selectFrom("zones")
    .innerJoin("accounts", "accounts.id", "zones.account_id")
    .select([
      "zones.id as id",
      "zones.name as name",
      "zones.account_id as account_id",
      "accounts.name as account_name",
      "accounts.api_date as account_api_date",
      "zones.plan as plan",
    ])
    .where("zones.id", "=", id)
    .executeTakeFirst();

/** Zone ids to account ids; zones that do not exist are omitted. */
export async function zoneAccounts(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("zones").select(["id", "account_id"]).where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row.account_id]));
}

/** The distinct plans of the accounts' zones. */
export async function plansOfAccounts(db: Kysely<Tables>, accountIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (accountIds.length === 0) return new Set();
  const rows = await db.selectFrom("zones").select("plan").distinct().where("account_id", "in", accountIds).execute();
  return new Set(rows.map((row) => row.plan));
}
