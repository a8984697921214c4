import type { Kysely, Selectable } from "kysely";
import type { AccountSensitiveDataObjectsTable, SensitiveDataObjectsTable } from "#store/tables/detection.ts";
import type { Tables } from "#store/queries/tables.ts";
import { lockAccount } from "#store/access/accounts.ts";
import { lockZone } from "#store/zones/zones.ts";

/** A row without its owner. */
export type SensitiveDataRow = Omit<Selectable<SensitiveDataObjectsTable>, "zone_id">;

type Db = Kysely<Tables>;

/** Access to the rows of one kind of owner. */
export interface SensitiveDataRows {
  /** Locks the owner's objects: one unit at a time changes them. */
  lock(db: Db, ownerId: string): Promise<unknown>;
  /** The owner's objects of every kind, oldest first. */
  of(db: Db, ownerId: string): Promise<SensitiveDataRow[]>;
  insert(db: Db, ownerId: string, row: SensitiveDataRow): Promise<unknown>;
  update(db: Db, row: SensitiveDataRow): Promise<unknown>;
  delete(db: Db, id: string): Promise<unknown>;
}

export const zoneSensitiveData: SensitiveDataRows = {
  lock: lockZone,
  of: (db, id) =>
    db.selectFrom("sensitive_data_objects").selectAll().where("zone_id", "=", id).orderBy("created_on").orderBy("id").execute(),
  insert: (db, zone_id, row) =>
    db
      .insertInto("sensitive_data_objects")
      .values({ ...row, zone_id })
      .execute(),
  update: (db, { id, value, modified_on }) =>
    db.updateTable("sensitive_data_objects").set({ value, modified_on }).where("id", "=", id).execute(),
  delete: (db, id) => db.deleteFrom("sensitive_data_objects").where("id", "=", id).execute(),
};

export const accountSensitiveData: SensitiveDataRows = {
  lock: lockAccount,
  of: (db, id) =>
    db.selectFrom("account_sensitive_data_objects").selectAll().where("account_id", "=", id).orderBy("created_on").orderBy("id").execute(),
  insert: (db, account_id, row) =>
    db
      .insertInto("account_sensitive_data_objects")
      .values({ ...row, account_id })
      .execute(),
  update: (db, { id, value, modified_on }) =>
    db.updateTable("account_sensitive_data_objects").set({ value, modified_on }).where("id", "=", id).execute(),
  delete: (db, id) => db.deleteFrom("account_sensitive_data_objects").where("id", "=", id).execute(),
};

/** Objects of every zone, oldest first. */
export const allSensitiveData = (db: Db): Promise<Selectable<SensitiveDataObjectsTable>[]> =>
  db.selectFrom("sensitive_data_objects").selectAll().orderBy("created_on").orderBy("id").execute();

/** Objects of every account, oldest first. */
export const allAccountSensitiveData = (db: Db): Promise<Selectable<AccountSensitiveDataObjectsTable>[]> =>
  db.selectFrom("account_sensitive_data_objects").selectAll().orderBy("created_on").orderBy("id").execute();
