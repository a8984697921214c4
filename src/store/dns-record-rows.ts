import type { Kysely } from "kysely";
import { prepareSetQuery } from "#store/set-query.ts";
import type { DnsRecordRow } from "#store/dns-records.ts";
import type { Tables } from "#store/tables.ts";

// Reading and writing many records at once; one is a set of one.

type Db = Kysely<Tables>;

const COLUMNS = [
  "id",
  "zone_id",
  "name",
  "type",
  "content",
  "content_key",
  "data",
  "priority",
  "ttl",
  "proxied",
  "settings",
  "comment",
  "tags",
  "rdata",
  "comment_modified_on",
  "tags_modified_on",
  "created_on",
  "modified_on",
] as const satisfies readonly (keyof DnsRecordRow)[];

/** Every column but the key, which is what a record keeps for life. */
const CHANGING = COLUMNS.filter((column) => column !== "id" && column !== "zone_id");

const WHOLE_ROWS = { width: COLUMNS.length, shared: 0 } as const;
const KEYS = { width: 1, shared: 1 } as const;

const rowOf = (values: readonly unknown[]): DnsRecordRow =>
  Object.fromEntries(COLUMNS.map((column, i) => [column, values[i]])) as unknown as DnsRecordRow;
const valuesOf = (row: DnsRecordRow): readonly unknown[] => COLUMNS.map((column) => row[column]);
const keysOf = (tuples: readonly (readonly unknown[])[]): string[] => tuples.map(([key]) => key as string);

const insert = prepareSetQuery<[], unknown>(WHOLE_ROWS, (db, tuples) => db.insertInto("dns_records").values(tuples.map(rowOf)));

const replace = prepareSetQuery<[], unknown>(WHOLE_ROWS, (db, tuples) =>
  db
    .insertInto("dns_records")
    .values(tuples.map(rowOf))
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet((eb) => Object.fromEntries(CHANGING.map((column) => [column, eb.ref(`excluded.${column}`)]))),
    ),
);

const remove = prepareSetQuery<[zoneId: string], unknown>(KEYS, (db, tuples, zoneId) =>
  db.deleteFrom("dns_records").where("zone_id", "=", zoneId).where("id", "in", keysOf(tuples)),
);

const select = prepareSetQuery<[zoneId: string], DnsRecordRow>(KEYS, (db, tuples, zoneId) =>
  db.selectFrom("dns_records").selectAll().where("zone_id", "=", zoneId).where("id", "in", keysOf(tuples)),
);

const selectNamed = prepareSetQuery<[zoneId: string], Pick<DnsRecordRow, "id" | "name" | "type" | "content_key" | "priority" | "rdata">>(
  KEYS,
  (db, tuples, zoneId) =>
    db
      .selectFrom("dns_records")
      .select(["id", "name", "type", "content_key", "priority", "rdata"])
      .where("zone_id", "=", zoneId)
      .where("name", "in", keysOf(tuples)),
);

const tuples = (keys: readonly string[]): string[][] => keys.map((key) => [key]);

export const insertRecords = async (db: Db, rows: readonly DnsRecordRow[]): Promise<void> => void (await insert(db, rows.map(valuesOf)));

/** The records, which exist, become these rows. */
export const replaceRecords = async (db: Db, rows: readonly DnsRecordRow[]): Promise<void> => void (await replace(db, rows.map(valuesOf)));

export const deleteRecords = async (db: Db, zoneId: string, ids: readonly string[]): Promise<void> =>
  void (await remove(db, tuples(ids), zoneId));

/** Those of the records that the zone has. */
export const recordsByIds = (db: Db, zoneId: string, ids: readonly string[]): Promise<DnsRecordRow[]> => select(db, tuples(ids), zoneId);

/** What the checks of a write need of the records that have one of the names already. */
export const recordsNamed = (db: Db, zoneId: string, names: readonly string[]) => selectNamed(db, tuples(names), zoneId);
