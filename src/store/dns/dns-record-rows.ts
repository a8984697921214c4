import { type Kysely, type Selectable, sql } from "kysely";
import { RECORD_COLUMNS } from "./dns-records.ts";
import type { DnsRecordRow } from "./record-row.ts";
import { countRecords } from "./record-counts.ts";
import { recordKeys, tagKeys } from "./record-keys.ts";
import { prepareSetQuery } from "#store/queries/in-query.ts";
import type { DnsRecordsTable, DnsRecordTagsTable } from "#store/tables/dns.ts";
import type { Tables } from "#store/queries/tables.ts";

// Reads and writes many records at once; a single record is a set of one.

type Db = Kysely<Tables>;

const COLUMNS = [
  ...RECORD_COLUMNS,
  "name_reversed",
  "content_head",
  "content_reversed",
  "comment_key",
  "comment_head",
  "comment_reversed",
  "commented",
  "tagged",
] as const;
type WholeRow = Selectable<DnsRecordsTable>;

/** Every column except the key, which never changes. */
const CHANGING = COLUMNS.filter((column) => column !== "id" && column !== "zone_id");

const WHOLE_ROWS = { width: COLUMNS.length, shared: 0 } as const;
const KEYS = { width: 1, shared: 1 } as const;
/** Each key deletes a whole row, with its tags. */
const ROWS_IN_ZONE = { ...KEYS, touched: COLUMNS.length } as const;
const TAGS_OF_KEYS = { width: 1, shared: 0, touched: COLUMNS.length } as const;

const rowOf = (values: readonly unknown[]): WholeRow =>
  Object.fromEntries(COLUMNS.map((column, i) => [column, values[i]])) as unknown as WholeRow;
function valuesOf(row: DnsRecordRow): readonly unknown[] {
  const whole: WholeRow = { ...row, ...recordKeys(row) };
  return COLUMNS.map((column) => whole[column]);
}
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

/** An expression that no index matches: otherwise SQLite would scan a zone of a million records instead of looking up four. */
const IN_ZONE = sql<string>`zone_id || ''`;

const remove = prepareSetQuery<[zoneId: string], unknown>(ROWS_IN_ZONE, (db, tuples, zoneId) =>
  db.deleteFrom("dns_records").where(IN_ZONE, "=", zoneId).where("id", "in", keysOf(tuples)),
);

const select = prepareSetQuery<[zoneId: string], DnsRecordRow>(KEYS, (db, tuples, zoneId) =>
  db.selectFrom("dns_records").select(RECORD_COLUMNS).where(IN_ZONE, "=", zoneId).where("id", "in", keysOf(tuples)),
);

const selectNamed = prepareSetQuery<
  [zoneId: string],
  Pick<DnsRecordRow, "id" | "name" | "type" | "content_key" | "priority" | "rdata" | "proxied">
>(KEYS, (db, tuples, zoneId) =>
  db
    .selectFrom("dns_records")
    .select(["id", "name", "type", "content_key", "priority", "rdata", "proxied"])
    .where("zone_id", "=", zoneId)
    .where("name", "in", keysOf(tuples)),
);

const TAG_COLUMNS = ["record_id", "zone_id", "tag_key", "tag_reversed", "record_name", "repeated"] as const;
const TAG_ROWS = { width: TAG_COLUMNS.length, shared: 0 } as const;

const insertTags = prepareSetQuery<[], unknown>(TAG_ROWS, (db, tuples) =>
  db
    .insertInto("dns_record_tags")
    .values(tuples.map((values) => Object.fromEntries(TAG_COLUMNS.map((column, i) => [column, values[i]])) as unknown as TagRow)),
);
type TagRow = Selectable<DnsRecordTagsTable>;

const removeTags = prepareSetQuery<[], unknown>(TAGS_OF_KEYS, (db, tuples) =>
  db.deleteFrom("dns_record_tags").where("record_id", "in", keysOf(tuples)),
);

const tuples = (keys: readonly string[]): string[][] => keys.map((key) => [key]);

/** A record before and after a write; null if it did not exist. At least one is not null. */
export interface RecordChange {
  readonly before: DnsRecordRow | null;
  readonly after: DnsRecordRow | null;
}

/** Writes the changes; each record occurs once. Tags are written with their records. */
export async function writeRecords(db: Db, zoneId: string, changes: readonly RecordChange[]): Promise<void> {
  const deleted: string[] = [];
  const replaced: DnsRecordRow[] = [];
  const created: DnsRecordRow[] = [];
  for (const { before, after } of changes) {
    if (after !== null) (before === null ? created : replaced).push(after);
    else if (before !== null) deleted.push(before.id);
  }
  const writes: readonly (() => Promise<unknown>)[] = [
    () => remove(db, tuples(deleted), zoneId),
    () => replace(db, replaced.map(valuesOf)),
    () => removeTags(db, tuples(replaced.map(({ id }) => id))),
    () => insert(db, created.map(valuesOf)),
    () => insertTags(db, [...replaced, ...created].flatMap(tagTuples)),
    () => countRecords(db, zoneId, changes),
  ];
  // Those of one record are one statement each, and so reach a server in this order without waiting for each other.
  if (changes.length === 1) await Promise.all(writes.map((write) => write()));
  else for (const write of writes) await write();
}

const tagTuples = ({ id, zone_id, name, tags }: DnsRecordRow): (string | number)[][] =>
  tagKeys(tags).map(({ tag_key, tag_reversed, repeated }) => [id, zone_id, tag_key, tag_reversed, name, repeated]);

/** The zone's records with one of the ids. */
export const recordsByIds = (db: Db, zoneId: string, ids: readonly string[]): Promise<DnsRecordRow[]> => select(db, tuples(ids), zoneId);

/** Records with one of the names, as the checks of a write need them. */
export const recordsNamed = (db: Db, zoneId: string, names: readonly string[]) => selectNamed(db, tuples(names), zoneId);
