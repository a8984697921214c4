import { setImmediate } from "node:timers/promises";
import { type Kysely, type Selectable, sql } from "kysely";
import { deleteInChunks } from "#store/queries/in-chunks.ts";
import { prepareQuery } from "#store/queries/prepared-query.ts";
import type { DnsVersionsTable } from "#store/tables/dns.ts";
import type { Tables } from "#store/queries/tables.ts";

export type DnsVersionRow = Selectable<DnsVersionsTable>;
/** A version without its changes. */
export type DnsVersionHead = Omit<DnsVersionRow, "changes">;

type Db = Kysely<Tables>;

const HEAD = [
  "zone_id",
  "version",
  "created_on",
  "actor",
  "kind",
  "refers_to",
  "reason",
  "created",
  "updated",
  "deleted",
  "parts_key",
] as const satisfies readonly (keyof DnsVersionHead)[];
const COLUMNS = [...HEAD, "changes"] as const;

const insertValues = prepareQuery((db, ...values: readonly unknown[]) =>
  db.insertInto("dns_versions").values(Object.fromEntries(COLUMNS.map((column, i) => [column, values[i]])) as DnsVersionRow),
);

export async function insertVersion(db: Db, row: DnsVersionRow): Promise<void> {
  await insertValues(db, ...COLUMNS.map((column) => row[column]));
}

/** Adds the part, or replaces it. */
export async function putVersionPart(db: Db, zoneId: string, version: number, part: number, changes: string): Promise<void> {
  await db
    .insertInto("dns_version_parts")
    .values({ zone_id: zoneId, version, part, changes })
    .onConflict((at) => at.columns(["zone_id", "version", "part"]).doUpdateSet({ changes }))
    .execute();
}

/** Key under which a large change stores its changes, before and after it is a version. Negative, because serials begin at 1. */
export const partsKeyOf = (changeId: string): number => -Number.parseInt(changeId.slice(0, 12), 16) - 1;

/** The last stored part of a large change; undefined if none is left. */
export const lastPart = (db: Db, zoneId: string, partsKey: number): Promise<{ part: number; changes: string } | undefined> =>
  db
    .selectFrom("dns_version_parts")
    .select(["part", "changes"])
    .where("zone_id", "=", zoneId)
    .where("version", "=", partsKey)
    .orderBy("part", "desc")
    .limit(1)
    .executeTakeFirst();

export const versionPartOf = (db: Db, zoneId: string, partsKey: number, part: number): Promise<{ changes: string } | undefined> =>
  db
    .selectFrom("dns_version_parts")
    .select("changes")
    .where("zone_id", "=", zoneId)
    .where("version", "=", partsKey)
    .where("part", "=", part)
    .executeTakeFirst();

export async function deletePart(db: Db, zoneId: string, partsKey: number, part: number): Promise<void> {
  await db.deleteFrom("dns_version_parts").where("zone_id", "=", zoneId).where("version", "=", partsKey).where("part", "=", part).execute();
}

/** Deletes some parts of a large version; false if none is left. */
export async function deleteSomeParts(db: Db, zoneId: string, partsKey: number, limit: number): Promise<boolean> {
  const some = db.selectFrom("dns_version_parts").select("part").where("zone_id", "=", zoneId).where("version", "=", partsKey).limit(limit);
  const query = db.deleteFrom("dns_version_parts").where("zone_id", "=", zoneId).where("version", "=", partsKey).where("part", "in", some);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** Deletes some of a zone's versions and their parts; false if none is left. */
export async function deleteSomeVersions(db: Db, zoneId: string, limit: number): Promise<boolean> {
  const parts = await db.selectFrom("dns_version_parts").select(["version", "part"]).where("zone_id", "=", zoneId).limit(limit).execute();
  for (const { version, part } of parts) await deletePart(db, zoneId, version, part);
  if (parts.length > 0) return true;
  const some = db.selectFrom("dns_versions").select("version").where("zone_id", "=", zoneId).limit(limit);
  return (
    (await db.deleteFrom("dns_versions").where("zone_id", "=", zoneId).where("version", "in", some).executeTakeFirst()).numDeletedRows > 0n
  );
}

export const versionHead = (db: Db, zoneId: string, version: number): Promise<DnsVersionHead | undefined> =>
  db.selectFrom("dns_versions").select(HEAD).where("zone_id", "=", zoneId).where("version", "=", version).executeTakeFirst();

/** The newest and oldest stored versions; null if the zone has none. */
export async function versionRange(db: Db, zoneId: string): Promise<{ oldest: number; newest: number } | null> {
  const { oldest, newest } = await db
    .selectFrom("dns_versions")
    .select((eb) => [eb.fn.min("version").as("oldest"), eb.fn.max("version").as("newest")])
    .where("zone_id", "=", zoneId)
    .executeTakeFirstOrThrow();
  return oldest === null || newest === null ? null : { oldest, newest };
}

/** Newest first. */
export async function listVersions(
  db: Db,
  zoneId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ items: DnsVersionHead[]; total: number }> {
  const items = await db
    .selectFrom("dns_versions")
    .select(HEAD)
    .where("zone_id", "=", zoneId)
    .orderBy("version", "desc")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await db
    .selectFrom("dns_versions")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where("zone_id", "=", zoneId)
    .executeTakeFirstOrThrow();
  return { items, total: Number(total) };
}

/** Changes per row; those of larger versions continue in parts. */
export const CHANGES_PER_ROW = 250;
const VERSIONS_AT_ONCE = 50;

/** The changes of the versions after `after` up to `upTo`, oldest first: texts of at most `CHANGES_PER_ROW` changes. */
export async function* versionChanges(db: Db, zoneId: string, after: number, upTo: number): AsyncGenerator<string> {
  for (let at = after; ;) {
    const rows = await db
      .selectFrom("dns_versions")
      .selectAll()
      .where("zone_id", "=", zoneId)
      .where("version", ">", at)
      .where("version", "<=", upTo)
      .orderBy("version")
      .limit(VERSIONS_AT_ONCE)
      .execute();
    for (const row of rows) {
      yield row.changes;
      if (changeCount(row) > CHANGES_PER_ROW) yield* versionParts(db, row);
      at = row.version;
    }
    if (rows.length < VERSIONS_AT_ONCE) return;
    await setImmediate();
  }
}

async function* versionParts(db: Db, row: DnsVersionHead): AsyncGenerator<string> {
  for (let part = 1; part * CHANGES_PER_ROW < changeCount(row); part++) {
    const { changes } = await db
      .selectFrom("dns_version_parts")
      .select("changes")
      .where("zone_id", "=", row.zone_id)
      .where("version", "=", row.parts_key ?? row.version)
      .where("part", "=", part)
      .executeTakeFirstOrThrow();
    yield changes;
    await setImmediate();
  }
}

export const changeCount = ({ created, updated, deleted }: Pick<DnsVersionHead, "created" | "updated" | "deleted">): number =>
  created + updated + deleted;

/** The n-th newest version, or null if the zone has fewer. */
export async function nthNewestVersion(db: Db, zoneId: string, n: number): Promise<number | null> {
  const query = db.selectFrom("dns_versions").select("version").where("zone_id", "=", zoneId);
  const row = await query
    .orderBy("version", "desc")
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst();
  return row?.version ?? null;
}

/** Sizes of all stored versions, newest first. */
export const versionSizes = (db: Db, zoneId: string): Promise<Pick<DnsVersionRow, "version" | "created" | "updated" | "deleted">[]> =>
  db
    .selectFrom("dns_versions")
    .select(["version", "created", "updated", "deleted"])
    .where("zone_id", "=", zoneId)
    .orderBy("version", "desc")
    .execute();

/** Versions per statement; each holds up to `CHANGES_PER_ROW` changes. */
const DELETED_AT_ONCE = 20;

/** Deletes versions. Returns the keys of large versions' parts, for the caller to delete over time. */
const deleteBetween = async (db: Db, zoneId: string, above: number, below: number): Promise<readonly number[]> => {
  const large = await db
    .selectFrom("dns_versions")
    .select("parts_key")
    .where("zone_id", "=", zoneId)
    .where("version", ">", above)
    .where("version", "<", below)
    .where("parts_key", "is not", null)
    .execute();
  const where = sql`zone_id = ${zoneId} AND version > ${above} AND version < ${below}`;
  await deleteInChunks(db, { table: "dns_versions", key: ["zone_id", "version"], where }, DELETED_AT_ONCE);
  await deleteInChunks(db, { table: "dns_version_parts", key: ["zone_id", "version", "part"], where }, DELETED_AT_ONCE);
  return large.flatMap(({ parts_key }) => (parts_key === null ? [] : [parts_key]));
};

export const deleteVersionsBelow = (db: Db, zoneId: string, version: number): Promise<readonly number[]> =>
  deleteBetween(db, zoneId, 0, version);
export const deleteVersionsAbove = (db: Db, zoneId: string, version: number): Promise<readonly number[]> =>
  deleteBetween(db, zoneId, version, Number.MAX_SAFE_INTEGER);
