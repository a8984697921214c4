import { setImmediate } from "node:timers/promises";
import type { Kysely, Selectable } from "kysely";
import { prepareQuery } from "#store/prepared-query.ts";
import type { DnsVersionsTable, Tables } from "#store/tables.ts";

export type DnsVersionRow = Selectable<DnsVersionsTable>;
/** A version less its changes. */
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
] as const satisfies readonly (keyof DnsVersionHead)[];
const COLUMNS = [...HEAD, "changes"] as const;

const insertValues = prepareQuery((db, ...values: readonly unknown[]) =>
  db.insertInto("dns_versions").values(Object.fromEntries(COLUMNS.map((column, i) => [column, values[i]])) as DnsVersionRow),
);

export async function insertVersion(db: Db, row: DnsVersionRow): Promise<void> {
  await insertValues(db, ...COLUMNS.map((column) => row[column]));
}

export async function insertVersionPart(db: Db, zoneId: string, version: number, part: number, changes: string): Promise<void> {
  await db.insertInto("dns_version_parts").values({ zone_id: zoneId, version, part, changes }).execute();
}

/** Where a large import keeps its changes until it is a version: serials begin at 1. */
export const STAGED_VERSION = 0;

/** What was kept under `STAGED_VERSION` becomes the version's. */
export async function claimStagedParts(db: Db, zoneId: string, version: number): Promise<void> {
  await db.updateTable("dns_version_parts").set({ version }).where("zone_id", "=", zoneId).where("version", "=", STAGED_VERSION).execute();
}

export async function deleteStagedParts(db: Db, zoneId: string): Promise<void> {
  await db.deleteFrom("dns_version_parts").where("zone_id", "=", zoneId).where("version", "=", STAGED_VERSION).execute();
}

export const versionHead = (db: Db, zoneId: string, version: number): Promise<DnsVersionHead | undefined> =>
  db.selectFrom("dns_versions").select(HEAD).where("zone_id", "=", zoneId).where("version", "=", version).executeTakeFirst();

/** The newest, and the oldest that is still kept; null where the zone has none. */
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

/** Changes in one row: those of larger versions go on in parts. */
export const CHANGES_PER_ROW = 250;
const VERSIONS_AT_ONCE = 50;

/** The changes of the versions after `after` up to `upTo`, oldest first: texts of `CHANGES_PER_ROW` changes at most. */
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
      .where("version", "=", row.version)
      .where("part", "=", part)
      .executeTakeFirstOrThrow();
    yield changes;
    await setImmediate();
  }
}

export const changeCount = ({ created, updated, deleted }: Pick<DnsVersionHead, "created" | "updated" | "deleted">): number =>
  created + updated + deleted;

/** The newest but `n - 1`, or null where there are not as many. */
export async function nthNewestVersion(db: Db, zoneId: string, n: number): Promise<number | null> {
  const query = db.selectFrom("dns_versions").select("version").where("zone_id", "=", zoneId);
  const row = await query
    .orderBy("version", "desc")
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst();
  return row?.version ?? null;
}

/** Of all that are kept, newest first. */
export const versionSizes = (db: Db, zoneId: string): Promise<Pick<DnsVersionRow, "version" | "created" | "updated" | "deleted">[]> =>
  db
    .selectFrom("dns_versions")
    .select(["version", "created", "updated", "deleted"])
    .where("zone_id", "=", zoneId)
    .orderBy("version", "desc")
    .execute();

const deleteBetween = async (db: Db, zoneId: string, above: number, below: number): Promise<void> => {
  for (const table of ["dns_versions", "dns_version_parts"] as const)
    await db.deleteFrom(table).where("zone_id", "=", zoneId).where("version", ">", above).where("version", "<", below).execute();
};

export const deleteVersionsBelow = (db: Db, zoneId: string, version: number): Promise<void> =>
  deleteBetween(db, zoneId, STAGED_VERSION, version);
export const deleteVersionsAbove = (db: Db, zoneId: string, version: number): Promise<void> =>
  deleteBetween(db, zoneId, version, Number.MAX_SAFE_INTEGER);
export const deleteVersionsOfZone = (db: Db, zoneId: string): Promise<void> => deleteBetween(db, zoneId, -1, Number.MAX_SAFE_INTEGER);
