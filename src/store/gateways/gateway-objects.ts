import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import type { GatewayObjectsTable } from "#store/tables/gateways.ts";
import type { Tables } from "#store/queries/tables.ts";

export type GatewayObjectRow = Selectable<GatewayObjectsTable>;
export type GatewayObjectKind =
  | "provider_config"
  | "custom_provider"
  | "custom_cost"
  | "route"
  | "route_version"
  | "route_deployment"
  | "dlp_profile";

/** The scope of objects of one kind; without `parent_id`, those of all parents. */
export interface GatewayObjectScope {
  readonly account_id: string;
  /** Empty if the object belongs to the account alone. */
  readonly gateway_id: string;
  readonly kind: GatewayObjectKind;
  readonly parent_id?: string;
}

/** Oldest first. */
export const gatewayObjectsAt = (db: Kysely<Tables>, { parent_id, ...scope }: GatewayObjectScope): Promise<GatewayObjectRow[]> =>
  db
    .selectFrom("gateway_objects")
    .selectAll()
    .where((eb) => eb.and(scope))
    .$if(parent_id !== undefined, (query) => query.where("parent_id", "=", parent_id ?? ""))
    .orderBy("created_at")
    .orderBy("id")
    .execute();

export const gatewayObject = (db: Kysely<Tables>, scope: GatewayObjectScope, id: string): Promise<GatewayObjectRow | undefined> =>
  db
    .selectFrom("gateway_objects")
    .selectAll()
    .where((eb) => eb.and(scope))
    .where("id", "=", id)
    .executeTakeFirst();

/** Every account's objects of a kind. */
export const allGatewayObjects = (db: Kysely<Tables>, kind: GatewayObjectKind): Promise<GatewayObjectRow[]> =>
  db.selectFrom("gateway_objects").selectAll().where("kind", "=", kind).orderBy("created_at").orderBy("id").execute();

/** Objects of one gateway. */
export const objectsOfGateway = (db: Kysely<Tables>, accountId: string, gatewayId: string): Promise<GatewayObjectRow[]> =>
  db.selectFrom("gateway_objects").selectAll().where("account_id", "=", accountId).where("gateway_id", "=", gatewayId).execute();

/** Inserts the object or replaces its value. */
export async function putGatewayObject(db: Kysely<Tables>, row: GatewayObjectRow): Promise<void> {
  const { value, modified_at } = row;
  await db
    .insertInto("gateway_objects")
    .values(row)
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ value, modified_at }))
    .execute();
}

/** Also deletes the objects whose parent it is. */
export async function deleteGatewayObject(db: Kysely<Tables>, id: string): Promise<void> {
  await deleteInChunks(db, { table: "gateway_objects", key: ["id"], where: sql`parent_id = ${id}` });
  await db.deleteFrom("gateway_objects").where("id", "=", id).execute();
}
