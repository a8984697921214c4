import type { ExpressionBuilder, Kysely, Selectable } from "kysely";
import { type ListPart, partOf } from "#store/queries/list-pages.ts";
import type { AuditLogTable, Tables } from "#store/queries/tables.ts";

/** Without what objects were before and after. */
export type AuditRow = Omit<Selectable<AuditLogTable>, "before" | "after">;

/** All that is given must hold. */
export interface AuditFilter {
  readonly id?: string | undefined;
  readonly action?: string | undefined;
  readonly actorIp?: string | undefined;
  /** Identifiers of credentials and users. */
  readonly actorIds?: readonly string[] | undefined;
  readonly zoneName?: string | undefined;
  /** In the form of the column: at or after, and before. */
  readonly since?: string | undefined;
  readonly before?: string | undefined;
}

/** Of an account. Identifiers follow the time. */
export const auditLogOf = (
  db: Kysely<Tables>,
  accountId: string,
  filter: AuditFilter,
  direction: "asc" | "desc",
  part: ListPart,
): Promise<AuditRow[]> =>
  partOf(
    found(db, accountId, filter).select([
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
    ]),
    ["id"],
    direction,
    part,
  ).execute();

export async function countAuditLog(db: Kysely<Tables>, accountId: string, filter: AuditFilter): Promise<number> {
  const { total } = await found(db, accountId, filter)
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
}

const found = (db: Kysely<Tables>, accountId: string, filter: AuditFilter) =>
  db.selectFrom("audit_log").where((eb) => eb.and([eb("account_id", "=", accountId), ...tests(eb, filter)]));

function tests(eb: ExpressionBuilder<Tables, "audit_log">, filter: AuditFilter) {
  const { id, action, actorIp, actorIds, zoneName, since, before } = filter;
  return [
    ...(id === undefined ? [] : [eb("id", "=", id)]),
    ...(action === undefined ? [] : [eb("action", "=", action)]),
    ...(actorIp === undefined ? [] : [eb("actor_ip", "=", actorIp)]),
    ...(actorIds === undefined ? [] : [eb("actor_id", "in", actorIds)]),
    ...(zoneName === undefined ? [] : [eb("zone_id", "in", eb.selectFrom("zones").select("zones.id").where("zones.name", "=", zoneName))]),
    ...(since === undefined ? [] : [eb("at", ">=", since)]),
    ...(before === undefined ? [] : [eb("at", "<", before)]),
  ];
}

/** The addresses of the users who act by themselves or by their tokens, by the identifier of either. */
export async function emailsOfActors(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const users = await db.selectFrom("users").select(["id", "email"]).where("id", "in", ids).execute();
  const tokens = await db
    .selectFrom("tokens")
    .innerJoin("users", "users.id", "tokens.user_id")
    .select(["tokens.id as id", "users.email as email"])
    .where("tokens.id", "in", ids)
    .execute();
  return new Map([...users, ...tokens].map(({ id, email }) => [id, email]));
}
