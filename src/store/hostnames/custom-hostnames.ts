import { type Expression, type ExpressionBuilder, type Kysely, type Selectable, type SqlBool, sql, type Updateable } from "kysely";
import { namesUp } from "#store/zones/local-names.ts";
import { updateInChunks } from "#store/queries/in-chunks.ts";
import { type ListPart, listState, partOf, type RowKey } from "#store/queries/list-pages.ts";
import { textTest } from "#store/queries/like.ts";
import type { CustomHostnameCertificatesTable, CustomHostnamesTable } from "#store/tables/hostnames.ts";
import type { Tables } from "#store/queries/tables.ts";

export type CustomHostnameRow = Selectable<CustomHostnamesTable>;
export type CustomHostnameCertificateRow = Selectable<CustomHostnameCertificatesTable>;

export const customHostname = (db: Kysely<Tables>, id: string): Promise<CustomHostnameRow | undefined> =>
  db.selectFrom("custom_hostnames").selectAll().where("id", "=", id).executeTakeFirst();

export const customHostnameOfZone = (db: Kysely<Tables>, zoneId: string, id: string): Promise<CustomHostnameRow | undefined> =>
  db.selectFrom("custom_hostnames").selectAll().where("zone_id", "=", zoneId).where("id", "=", id).executeTakeFirst();

export const customHostnameNamed = (db: Kysely<Tables>, zoneId: string, hostname: string): Promise<{ id: string } | undefined> =>
  db.selectFrom("custom_hostnames").select("id").where("zone_id", "=", zoneId).where("hostname", "=", hostname).executeTakeFirst();

/** Active custom hostnames with the name, of all zones: one, except while one replaces another. */
export const activeHostnames = (db: Kysely<Tables>, hostname: string): Promise<CustomHostnameRow[]> =>
  // Without hostnames of deleted zones, which are no longer served.
  db
    .selectFrom("custom_hostnames")
    .innerJoin("zones", "zones.id", "custom_hostnames.zone_id")
    .selectAll("custom_hostnames")
    .where("custom_hostnames.hostname", "=", hostname)
    .where("custom_hostnames.status", "=", "active")
    .execute();

/** Active custom hostnames of these zones at the name and its ancestors, closest first. */
export const activeHostnamesUp = (db: Kysely<Tables>, zoneIds: readonly string[], name: string): Promise<CustomHostnameRow[]> =>
  db
    .selectFrom("custom_hostnames")
    .selectAll()
    .where("hostname", "in", namesUp(name))
    .where("zone_id", "in", zoneIds)
    .where("status", "=", "active")
    .orderBy((eb) => eb.fn<number>("length", ["hostname"]), "desc")
    .execute();

export const allCustomHostnames = (db: Kysely<Tables>): Promise<CustomHostnameRow[]> =>
  db
    .selectFrom("custom_hostnames")
    .innerJoin("zones", "zones.id", "custom_hostnames.zone_id")
    .selectAll("custom_hostnames")
    .orderBy("custom_hostnames.id")
    .execute();

export const someHostnamesOfZone = (db: Kysely<Tables>, zoneId: string, limit: number): Promise<CustomHostnameRow[]> =>
  db.selectFrom("custom_hostnames").selectAll().where("zone_id", "=", zoneId).limit(limit).execute();

export const countCustomHostnames = async (db: Kysely<Tables>, zoneId: string): Promise<number> =>
  (await listState(db, "custom_hostnames", [zoneId])).rows;

export async function insertCustomHostname(db: Kysely<Tables>, row: CustomHostnameRow): Promise<void> {
  await db.insertInto("custom_hostnames").values(row).execute();
}

export async function updateCustomHostname(db: Kysely<Tables>, id: string, values: Updateable<CustomHostnamesTable>): Promise<void> {
  await db.updateTable("custom_hostnames").set(values).where("id", "=", id).execute();
}

export async function deleteCustomHostname(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("custom_hostnames").where("id", "=", id).execute();
}

/** Makes the checks of a zone's pending hostnames due now. */
export async function checkPendingNow(db: Kysely<Tables>, zoneId: string, nowMs: number): Promise<void> {
  await updateInChunks(db, {
    table: "custom_hostnames",
    key: ["id"],
    set: sql`next_check_ms = ${nowMs}`,
    where: sql`zone_id = ${zoneId} AND status = 'pending' AND (next_check_ms IS NULL OR next_check_ms > ${nowMs})`,
  });
}

/**
 * Ids of hostnames whose check is due: the longest overdue of each account in turn, so that no account waits for thousands of
 * another, whose name servers may not respond.
 */
export async function dueHostnames(db: Kysely<Tables>, nowMs: number, limit: number): Promise<string[]> {
  const ranked = db
    .selectFrom("custom_hostnames")
    .innerJoin("zones", "zones.id", "custom_hostnames.zone_id")
    .select([
      "custom_hostnames.id",
      "next_check_ms",
      sql<number>`row_number() OVER (PARTITION BY zones.account_id ORDER BY next_check_ms)`.as("place"),
    ])
    .where("next_check_ms", "<=", nowMs);
  const rows = await db.selectFrom(ranked.as("ranked")).select("id").orderBy("place").orderBy("next_check_ms").limit(limit).execute();
  return rows.map(({ id }) => id);
}

/** The names that are custom hostnames of the zone, or lie below one with a wildcard, whatever their status. */
export async function servedHostnames(db: Kysely<Tables>, zoneId: string, names: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const above = [...new Set([...names].flatMap(namesUp))];
  const rows = await db
    .selectFrom("custom_hostnames")
    .select(["hostname", "wildcard"])
    .where("zone_id", "=", zoneId)
    .where("hostname", "in", above.slice(0, NAMES_MAX))
    .execute();
  const wildcards = new Map(rows.map(({ hostname, wildcard }) => [hostname, wildcard === 1]));
  return new Set([...names].filter((name) => namesUp(name).some((one) => (one === name ? wildcards.has(one) : wildcards.get(one)))));
}

/** Limit of parameters per statement. */
const NAMES_MAX = 5_000;

/** Hostnames in a hosted zone that has changed since their last check, or was deleted. */
export async function hostnamesOfChangedZones(db: Kysely<Tables>, limit: number): Promise<string[]> {
  // Most hostnames of a zone were checked at the same serial: the index has this data, and each zone is looked up once.
  const homes = await db
    .selectFrom((from) =>
      from
        .selectFrom("custom_hostnames")
        .select(["home_zone_id", "home_serial"])
        .distinct()
        .where("home_zone_id", "is not", null)
        .as("homes"),
    )
    .leftJoin("zones", "zones.id", "homes.home_zone_id")
    .select(["homes.home_zone_id", "homes.home_serial"])
    .where((eb) => eb.or([eb("zones.serial", "is", null), eb("zones.serial", "!=", eb.ref("homes.home_serial"))]))
    .limit(limit)
    .execute();
  const ids: string[] = [];
  for (const { home_zone_id, home_serial } of homes) {
    if (ids.length >= limit) break;
    const rows = await db
      .selectFrom("custom_hostnames")
      .select("id")
      .where("home_zone_id", "=", home_zone_id)
      .where("home_serial", "=", home_serial)
      .limit(limit - ids.length)
      .execute();
    ids.push(...rows.map(({ id }) => id));
  }
  return ids;
}

export interface HostnameFilter {
  readonly id?: string | undefined;
  readonly exact?: string | undefined;
  readonly startsWith?: string | undefined;
  readonly contains?: string | undefined;
  readonly withSsl?: boolean;
  readonly sslStatus?: string | undefined;
  /** As displayed: `caa_error` overrides the other states. */
  readonly status?: string | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly wildcard?: boolean | undefined;
  readonly customOriginServer?: string | undefined;
  readonly order: "ssl" | "ssl_status";
  readonly direction: "asc" | "desc";
}

export const listCustomHostnames = (
  db: Kysely<Tables>,
  zoneId: string,
  filter: HostnameFilter,
  part: ListPart,
): Promise<CustomHostnameRow[]> =>
  partOf(
    db
      .selectFrom("custom_hostnames")
      .selectAll()
      .where((eb) => isListed(eb, zoneId, filter)),
    [filter.order === "ssl" ? "created_at" : "ssl_status", "id"],
    filter.direction,
    part,
  ).execute();

export async function countListedHostnames(db: Kysely<Tables>, zoneId: string, filter: HostnameFilter): Promise<number> {
  const { total } = await db
    .selectFrom("custom_hostnames")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where((eb) => isListed(eb, zoneId, filter))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** The sort key of the list; null if it may contain null. */
export const hostnameListKey = ({ order }: HostnameFilter): ((row: CustomHostnameRow) => RowKey) | null =>
  order === "ssl" ? ({ created_at, id }) => [created_at, id] : null;

/** Whether the filter excludes nothing. */
export const isWholeHostnameList = ({ order: _order, direction: _direction, withSsl, ...tests }: HostnameFilter): boolean =>
  withSsl !== true && Object.values(tests).every((test) => test === undefined);

const isListed = (eb: ExpressionBuilder<Tables, "custom_hostnames">, zoneId: string, filter: HostnameFilter) =>
  eb.and([eb("zone_id", "=", zoneId), ...tests(eb, filter)]);

function tests(eb: ExpressionBuilder<Tables, "custom_hostnames">, filter: HostnameFilter): Expression<SqlBool>[] {
  const found: Expression<SqlBool>[] = [];
  const hostname = eb.ref("hostname");
  if (filter.id !== undefined) found.push(eb("id", "=", filter.id));
  if (filter.exact !== undefined) found.push(textTest(hostname, "exact", filter.exact));
  if (filter.startsWith !== undefined) found.push(textTest(hostname, "startswith", filter.startsWith));
  if (filter.contains !== undefined) found.push(textTest(hostname, "contains", filter.contains));
  if (filter.withSsl === true) found.push(eb("ssl_status", "is not", null));
  if (filter.sslStatus !== undefined) found.push(eb("ssl_status", "=", filter.sslStatus));
  if (filter.status === "caa_error") found.push(eb("caa_error", "=", 1));
  else if (filter.status !== undefined) found.push(eb("status", "=", filter.status), eb("caa_error", "=", 0));
  if (filter.certificateAuthority !== undefined) found.push(eb("certificate_authority", "=", filter.certificateAuthority));
  if (filter.wildcard !== undefined) found.push(eb("wildcard", "=", filter.wildcard ? 1 : 0));
  if (filter.customOriginServer !== undefined) found.push(sql<SqlBool>`custom_origin_server = ${filter.customOriginServer}`);
  return found;
}

export const hostnameCertificates = (db: Kysely<Tables>, hostnameId: string): Promise<CustomHostnameCertificateRow[]> =>
  db.selectFrom("custom_hostname_certificates").selectAll().where("custom_hostname_id", "=", hostnameId).orderBy("created_on").execute();

export const allHostnameCertificates = (db: Kysely<Tables>): Promise<CustomHostnameCertificateRow[]> =>
  db
    .selectFrom("custom_hostname_certificates")
    .innerJoin("zones", "zones.id", "custom_hostname_certificates.zone_id")
    .selectAll("custom_hostname_certificates")
    .orderBy("custom_hostname_certificates.id")
    .execute();

export async function insertHostnameCertificate(db: Kysely<Tables>, row: CustomHostnameCertificateRow): Promise<void> {
  await db.insertInto("custom_hostname_certificates").values(row).execute();
}

export async function deleteHostnameCertificate(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("custom_hostname_certificates").where("id", "=", id).execute();
}
