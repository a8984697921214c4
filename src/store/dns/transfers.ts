import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { TransferObjectsTable, ZoneTransfersTable } from "#store/tables/dns.ts";

export type TransferObjectRow = Selectable<TransferObjectsTable>;
export type TransferKind = "acl" | "peer" | "tsig";
export type ZoneTransferRow = Selectable<ZoneTransfersTable>;
export type TransferDirection = "incoming" | "outgoing";

const owned = (db: Kysely<Tables>, accountId: string, kind: TransferKind) =>
  db.selectFrom("transfer_objects").selectAll().where("account_id", "=", accountId).where("kind", "=", kind);

export const transferObjects = (db: Kysely<Tables>, accountId: string, kind: TransferKind): Promise<TransferObjectRow[]> =>
  owned(db, accountId, kind).orderBy("created_on").orderBy("id").execute();

/** Objects of every kind, of one account or of all. */
export const transferObjectsOf = (db: Kysely<Tables>, accountId: string | null): Promise<TransferObjectRow[]> =>
  db
    .selectFrom("transfer_objects")
    .selectAll()
    .$if(accountId !== null, (query) => query.where("account_id", "=", accountId ?? ""))
    .orderBy("created_on")
    .orderBy("id")
    .execute();

export const transferObject = (
  db: Kysely<Tables>,
  accountId: string,
  kind: TransferKind,
  id: string,
): Promise<TransferObjectRow | undefined> => owned(db, accountId, kind).where("id", "=", id).executeTakeFirst();

/** Inserts the object or replaces its value. */
export async function putTransferObject(db: Kysely<Tables>, row: TransferObjectRow): Promise<void> {
  await db
    .insertInto("transfer_objects")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ value: row.value }))
    .execute();
}

export async function deleteTransferObject(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("transfer_objects").where("id", "=", id).execute();
}

export async function deleteTransferObjectsOf(db: Kysely<Tables>, accountId: string): Promise<void> {
  await deleteInChunks(db, { table: "transfer_objects", key: ["id"], where: sql`account_id = ${accountId}` });
}

export const zoneTransfer = (db: Kysely<Tables>, zoneId: string, direction: TransferDirection): Promise<ZoneTransferRow | undefined> =>
  db.selectFrom("zone_transfers").selectAll().where("zone_id", "=", zoneId).where("direction", "=", direction).executeTakeFirst();

export const zoneTransfersOf = (db: Kysely<Tables>, zoneId: string): Promise<ZoneTransferRow[]> =>
  db.selectFrom("zone_transfers").selectAll().where("zone_id", "=", zoneId).execute();

/** Both directions of every zone of the account, or of all accounts. */
export const zoneTransfersOfAccount = (
  db: Kysely<Tables>,
  accountId: string | null,
): Promise<(ZoneTransferRow & { readonly account_id: string })[]> =>
  db
    .selectFrom("zone_transfers")
    .innerJoin("zones", "zones.id", "zone_transfers.zone_id")
    .selectAll("zone_transfers")
    .select("zones.account_id")
    .$if(accountId !== null, (query) => query.where("zones.account_id", "=", accountId ?? ""))
    .execute();

/** Ids of zones that other servers may transfer, in order. */
export const transferredZonesAfter = async (db: Kysely<Tables>, after: string, limit: number): Promise<string[]> =>
  (
    await db
      .selectFrom("zone_transfers")
      .select("zone_id")
      .where("direction", "=", "outgoing")
      .where("zone_id", ">", after)
      .orderBy("zone_id")
      .limit(limit)
      .execute()
  ).map(({ zone_id }) => zone_id);

/** Inserts the configuration or replaces its settings. */
export async function putZoneTransfer(db: Kysely<Tables>, row: ZoneTransferRow): Promise<void> {
  await db
    .insertInto("zone_transfers")
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(["zone_id", "direction"]).doUpdateSet({ settings: row.settings, modified_on: row.modified_on }),
    )
    .execute();
}

export async function deleteZoneTransfer(db: Kysely<Tables>, zoneId: string, direction: TransferDirection): Promise<void> {
  await db.deleteFrom("zone_transfers").where("zone_id", "=", zoneId).where("direction", "=", direction).execute();
}

export async function deleteZoneTransfersOf(db: Kysely<Tables>, zoneId: string): Promise<void> {
  // few: one for each direction
  await db.deleteFrom("zone_transfers").where("zone_id", "=", zoneId).execute();
}
