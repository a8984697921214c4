import type { ExpressionBuilder, Kysely, Selectable } from "kysely";
import { type ListPart, partOf } from "#store/queries/list-pages.ts";
import type { AuditLogTable } from "#store/tables/changes.ts";
import type { Tables } from "#store/queries/tables.ts";

/** Returns objects before and after only for kinds that can have an API date. */
export type AuditRow = Selectable<AuditLogTable>;

const DATED_RESOURCES = ["token", "account"];

/** Conditions that must all hold. */
export interface AuditFilter {
  readonly id?: string | undefined;
  readonly action?: string | undefined;
  /** By the end of the action's name; everything but creations and deletions is an update. */
  readonly kind?: "create" | "update" | "delete" | undefined;
  readonly resourceId?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly zoneId?: string | undefined;
  readonly actorIp?: string | undefined;
  /** Ids of credentials and users. */
  readonly actorIds?: readonly string[] | undefined;
  readonly zoneName?: string | undefined;
  /** ISO 8601 with microseconds, as in the column: `since` is inclusive, `before` exclusive. */
  readonly since?: string | undefined;
  readonly before?: string | undefined;
}

/** An account with all changes in it, or a user with those that its credentials made, outside of accounts and in `accounts`. */
export type AuditOwner = { readonly account: string } | { readonly actors: readonly string[]; readonly accounts: readonly string[] };

/** Rows of the owner, by id, which follows the time. */
export const auditLogOf = (
  db: Kysely<Tables>,
  owner: AuditOwner,
  filter: AuditFilter,
  direction: "asc" | "desc",
  part: ListPart,
): Promise<AuditRow[]> =>
  partOf(
    found(db, owner, filter).select((eb) => [
      "id",
      "at",
      "action",
      "actor_type",
      "actor_id",
      "actor_ip",
      "account_id",
      "zone_id",
      "resource_type",
      "resource_id",
      "api_date",
      ...(["before", "after"] as const).map((column) =>
        eb.case().when("resource_type", "in", DATED_RESOURCES).then(eb.ref(column)).else(null).end().as(column),
      ),
    ]),
    ["id"],
    direction,
    part,
  ).execute();

export async function countAuditLog(db: Kysely<Tables>, owner: AuditOwner, filter: AuditFilter): Promise<number> {
  const { total } = await found(db, owner, filter)
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
}

const found = (db: Kysely<Tables>, owner: AuditOwner, filter: AuditFilter) =>
  db.selectFrom("audit_log").where((eb) => eb.and([...belongs(eb, owner), ...tests(eb, filter)]));

function belongs(eb: ExpressionBuilder<Tables, "audit_log">, owner: AuditOwner) {
  if ("account" in owner) return [eb("account_id", "=", owner.account)];
  const inAccounts = owner.accounts.length === 0 ? [] : [eb("account_id", "in", owner.accounts)];
  return [eb("actor_id", "in", owner.actors), eb.or([eb("account_id", "is", null), ...inAccounts])];
}

function tests(eb: ExpressionBuilder<Tables, "audit_log">, filter: AuditFilter) {
  const { id, action, kind, actorIp, actorIds, resourceId, resourceType, zoneId, zoneName, since, before } = filter;
  return [
    ...(kind === "create" || kind === "delete" ? [eb("action", "like", `%.${kind}`)] : []),
    ...(kind === "update" ? [eb("action", "not like", "%.create"), eb("action", "not like", "%.delete")] : []),
    ...(resourceId === undefined ? [] : [eb("resource_id", "=", resourceId)]),
    ...(resourceType === undefined ? [] : [eb("resource_type", "=", resourceType)]),
    ...(zoneId === undefined ? [] : [eb("zone_id", "=", zoneId)]),
    ...(id === undefined ? [] : [eb("id", "=", id)]),
    ...(action === undefined ? [] : [eb("action", "=", action)]),
    ...(actorIp === undefined ? [] : [eb("actor_ip", "=", actorIp)]),
    ...(actorIds === undefined ? [] : [eb("actor_id", "in", actorIds)]),
    ...(zoneName === undefined ? [] : [eb("zone_id", "in", eb.selectFrom("zones").select("zones.id").where("zones.name", "=", zoneName))]),
    ...(since === undefined ? [] : [eb("at", ">=", since)]),
    ...(before === undefined ? [] : [eb("at", "<", before)]),
  ];
}

/** Names of zones that exist, by their ids. */
export async function namesOfZones(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("zones").select(["id", "name"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The user whom an actor is, or whose token it is. */
export interface ActorUser {
  readonly id: string;
  readonly email: string;
}

/** Users who act directly or through their tokens, by the id of the user or token. */
export async function usersOfActors(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, ActorUser>> {
  if (ids.length === 0) return new Map();
  const users = await db.selectFrom("users").select(["id", "email"]).where("id", "in", ids).execute();
  const tokens = await db
    .selectFrom("tokens")
    .innerJoin("users", "users.id", "tokens.user_id")
    .select(["tokens.id as actor_id", "users.id as id", "users.email as email"])
    .where("tokens.id", "in", ids)
    .execute();
  return new Map([
    ...users.map((user) => [user.id, user] as const),
    ...tokens.map(({ actor_id, id, email }) => [actor_id, { id, email }] as const),
  ]);
}
