import type { Insertable, Kysely, Selectable } from "kysely";
import type { AccountsTable, MembershipsTable } from "#store/tables/access.ts";
import type { Tables } from "#store/queries/tables.ts";

export type MembershipRow = Selectable<MembershipsTable>;

/** A membership together with its account. */
export interface MembershipOfAccount {
  readonly membership: MembershipRow;
  readonly account: Selectable<AccountsTable>;
}

/** The user's memberships, oldest first. */
export const listMemberships = async (db: Kysely<Tables>, userId: string): Promise<MembershipOfAccount[]> =>
  (await joined(db).where("memberships.user_id", "=", userId).orderBy("memberships.created_on").orderBy("memberships.id").execute()).map(
    split,
  );

export async function findMembership(db: Kysely<Tables>, userId: string, id: string): Promise<MembershipOfAccount | undefined> {
  const row = await joined(db).where("memberships.user_id", "=", userId).where("memberships.id", "=", id).executeTakeFirst();
  return row && split(row);
}

/** Account id and roles (JSON) of the accepted memberships, from which a credential's permissions are computed. */
export const acceptedMemberships = (db: Kysely<Tables>, userId: string): Promise<{ account_id: string; roles: string }[]> =>
  db.selectFrom("memberships").select(["account_id", "roles"]).where("user_id", "=", userId).where("status", "=", "accepted").execute();

export const membershipsOfAccount = (db: Kysely<Tables>, accountId: string): Promise<MembershipRow[]> =>
  db.selectFrom("memberships").selectAll().where("account_id", "=", accountId).orderBy("id").execute();

export async function insertMembership(db: Kysely<Tables>, row: Insertable<MembershipsTable>): Promise<void> {
  await db.insertInto("memberships").values(row).execute();
}

export async function setMembershipStatus(db: Kysely<Tables>, id: string, status: string): Promise<void> {
  await db.updateTable("memberships").set({ status }).where("id", "=", id).execute();
}

export async function setMembershipRoles(db: Kysely<Tables>, id: string, roles: string): Promise<void> {
  await db.updateTable("memberships").set({ roles }).where("id", "=", id).execute();
}

export async function deleteMembership(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("memberships").where("id", "=", id).execute();
}

const joined = (db: Kysely<Tables>) =>
  db
    .selectFrom("memberships")
    .innerJoin("accounts", "accounts.id", "memberships.account_id")
    .select([
      "memberships.id as id",
      "memberships.account_id as account_id",
      "memberships.user_id as user_id",
      "memberships.roles as roles",
      "memberships.status as status",
      "memberships.created_on as created_on",
    ])
    .select([
      "accounts.name as account_name",
      "accounts.type as account_type",
      "accounts.settings as account_settings",
      "accounts.dns_settings as account_dns_settings",
      "accounts.created_on as account_created_on",
      "accounts.api_date as account_api_date",
    ]);

interface JoinedRow extends MembershipRow {
  readonly account_name: string;
  readonly account_type: string;
  readonly account_settings: string;
  readonly account_dns_settings: string;
  readonly account_created_on: string;
  readonly account_api_date: string | null;
}

const split = (row: JoinedRow): MembershipOfAccount => ({
  membership: {
    id: row.id,
    account_id: row.account_id,
    user_id: row.user_id,
    roles: row.roles,
    status: row.status,
    created_on: row.created_on,
  },
  account: {
    id: row.account_id,
    name: row.account_name,
    type: row.account_type,
    settings: row.account_settings,
    dns_settings: row.account_dns_settings,
    created_on: row.account_created_on,
    api_date: row.account_api_date,
  },
});
