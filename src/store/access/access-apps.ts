import type { Kysely, Selectable } from "kysely";
import type { AccessAppsTable } from "#store/tables/access.ts";
import type { Tables } from "#store/queries/tables.ts";

export type AccessAppRow = Selectable<AccessAppsTable>;

/** The owner of applications: an account, or one of its zones. */
export interface AccessAppOwner {
  readonly account_id: string;
  readonly zone_id: string | null;
}

const ownedBy = (db: Kysely<Tables>, { account_id, zone_id }: AccessAppOwner) => {
  const query = db.selectFrom("access_apps").selectAll().where("account_id", "=", account_id);
  return zone_id === null ? query.where("zone_id", "is", null) : query.where("zone_id", "=", zone_id);
};

/** Newest first. */
export const accessAppsOf = (db: Kysely<Tables>, owner: AccessAppOwner): Promise<AccessAppRow[]> =>
  ownedBy(db, owner).orderBy("created_at", "desc").orderBy("id").execute();

/** Applications of the account and of its zones. */
export const accessAppsOfAccount = (db: Kysely<Tables>, accountId: string): Promise<AccessAppRow[]> =>
  db.selectFrom("access_apps").selectAll().where("account_id", "=", accountId).execute();

export const accessApp = (db: Kysely<Tables>, owner: AccessAppOwner, id: string): Promise<AccessAppRow | undefined> =>
  ownedBy(db, owner).where("id", "=", id).executeTakeFirst();

/** Whether any account uses the id: clients choose the ids of bookmarks. */
export const accessAppIdTaken = async (db: Kysely<Tables>, id: string): Promise<boolean> =>
  (await db.selectFrom("access_apps").select("id").where("id", "=", id).executeTakeFirst()) !== undefined;

export async function insertAccessApp(db: Kysely<Tables>, row: AccessAppRow): Promise<void> {
  await db.insertInto("access_apps").values(row).execute();
}

export async function updateAccessApp(db: Kysely<Tables>, { id, value, updated_at }: AccessAppRow): Promise<void> {
  await db.updateTable("access_apps").set({ value, updated_at }).where("id", "=", id).execute();
}

export async function deleteAccessApp(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("access_apps").where("id", "=", id).execute();
}
