import { type Expression, type ExpressionBuilder, type Kysely, sql, type SqlBool } from "kysely";
import type { AttentionKind } from "#model/access/attention.ts";
import type { Tables } from "#store/queries/tables.ts";
import { isVisible, type ZoneReach } from "#store/zones/zones.ts";

/** An object of an account that needs a person. */
export interface AttentionRow {
  readonly zone_id: string | null;
  readonly zone_name: string | null;
  readonly id: string;
  readonly name: string;
  readonly reason: string;
}

/** Whose problems, and since when. */
export interface AttentionScope {
  readonly accountId: string;
  /** The zones that the caller may see; null: all. */
  readonly reach: ZoneReach | null;
  /** A certificate that ends before is expiring; RFC 3339. */
  readonly expiringBefore: string;
  /** Notifications that failed since; Unix milliseconds. */
  readonly failedSinceMs: number;
  /** Deprecated calls since that day; `YYYY-MM-DD`. */
  readonly calledSince: string;
}

type Look = (db: Kysely<Tables>, scope: AttentionScope) => Promise<AttentionRow[]>;

/** The zones of the account that the caller may see. */
const inScope =
  ({ accountId, reach }: AttentionScope) =>
  (eb: ExpressionBuilder<Tables, "zones" | "accounts">): Expression<SqlBool> =>
    eb.and([eb("zones.account_id", "=", accountId), isVisible(eb, reach)]);

const HOSTNAME_FAULTS = ["expired", "initializing_timed_out", "validation_timed_out", "issuance_timed_out", "deployment_timed_out"];

const zonesWith =
  (status: "moved" | "pending", limit: number): Look =>
  (db, scope) =>
    db
      .selectFrom("zones")
      .select(["zones.id as zone_id", "zones.name as zone_name", "zones.id as id", "zones.name as name", sql<string>`''`.as("reason")])
      .where((eb) => inScope(scope)(eb as never))
      .where("status", "=", status)
      .orderBy("zones.name")
      .limit(limit)
      .execute();

/** Each returns at most `limit` objects of the account, by an index of its zones. */
export const attentionLooks = (limit: number): Readonly<Record<AttentionKind, Look>> => ({
  zone_moved: zonesWith("moved", limit),
  zone_pending: zonesWith("pending", limit),
  certificate_failing: (db, scope) =>
    db
      .selectFrom("certificate_orders as failing")
      .innerJoin("zones", "zones.id", "failing.zone_id")
      .select(["zones.id as zone_id", "zones.name as zone_name", "failing.id as id", "failing.hosts as name", "failing.error as reason"])
      .where((eb) => inScope(scope)(eb as never))
      // A custom hostname says itself what its certificate waits for.
      .where("failing.owner_kind", "<>", "custom_hostname")
      .where("failing.error", "<>", "")
      .orderBy("failing.id")
      .limit(limit)
      .execute(),
  certificate_expiring: (db, scope) =>
    db
      .selectFrom("custom_certificates as expiring")
      .innerJoin("zones", "zones.id", "expiring.zone_id")
      .select([
        "zones.id as zone_id",
        "zones.name as zone_name",
        "expiring.id as id",
        "expiring.hosts as name",
        "expiring.not_after as reason",
      ])
      .where((eb) => inScope(scope)(eb as never))
      .where("expiring.not_after", "<", scope.expiringBefore)
      .orderBy("expiring.not_after")
      .limit(limit)
      .execute(),
  hostname_failing: (db, scope) =>
    db
      .selectFrom("custom_hostnames as failing")
      .innerJoin("zones", "zones.id", "failing.zone_id")
      .select(["zones.id as zone_id", "zones.name as zone_name", "failing.id as id", "failing.hostname as name"])
      .select(sql<string>`failing.ssl_status`.as("reason"))
      .where((eb) => inScope(scope)(eb as never))
      .where("failing.ssl_status", "in", HOSTNAME_FAULTS)
      .orderBy("failing.hostname")
      .limit(limit)
      .execute(),
  secondary_failing: (db, scope) =>
    db
      .selectFrom("incoming_transfer_states as failing")
      .innerJoin("zones", "zones.id", "failing.zone_id")
      .select(["zones.id as zone_id", "zones.name as zone_name", "zones.id as id", "zones.name as name"])
      .select(sql<string>`failing.last_error`.as("reason"))
      .where((eb) => inScope(scope)(eb as never))
      .where("failing.last_error", "is not", null)
      .orderBy("zones.name")
      .limit(limit)
      .execute(),
  log_push_failing: (db, { accountId }) =>
    db
      .selectFrom("logpush_jobs")
      .select([sql<null>`NULL`.as("zone_id"), sql<null>`NULL`.as("zone_name"), sql<string>`CAST(id AS TEXT)`.as("id"), "dataset as name"])
      .select(sql<string>`COALESCE(error_message, '')`.as("reason"))
      .where("account_id", "=", accountId)
      .where("enabled", "=", 1)
      .where("last_error", "is not", null)
      .where(sql<SqlBool>`(last_complete IS NULL OR last_error > last_complete)`)
      .orderBy("logpush_jobs.id")
      .limit(limit)
      .execute(),
  notification_failing: (db, { accountId, failedSinceMs }) =>
    db
      .selectFrom("notification_deliveries")
      .select([sql<null>`NULL`.as("zone_id"), sql<null>`NULL`.as("zone_name"), "policy_id as id"])
      .select([sql<string>`MAX(name)`.as("name"), sql<string>`COALESCE(MAX(error), '')`.as("reason")])
      .where("account_id", "=", accountId)
      .where("created_ms", ">=", failedSinceMs)
      .where("status", "=", "failed")
      .groupBy("policy_id")
      .orderBy("policy_id")
      .limit(limit)
      .execute(),
  deprecated_calls: (db, { accountId, calledSince }) =>
    db
      .selectFrom("deprecation_calls")
      .select([sql<null>`NULL`.as("zone_id"), sql<null>`NULL`.as("zone_name"), "deprecation_id as id", "deprecation_id as name"])
      .select(sql<string>`''`.as("reason"))
      .where("account_id", "=", accountId)
      .where("day", ">=", calledSince)
      .groupBy("deprecation_id")
      .orderBy("deprecation_id")
      .limit(limit)
      .execute(),
});
