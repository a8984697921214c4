import { type Expression, type Kysely, type RawBuilder, type Selectable, sql, type SqlBool } from "kysely";
import { escapeLike, textTest, type TextOperator } from "#store/like.ts";
import type { Store } from "#store/store.ts";
import type { DnsRecordsTable, Tables } from "#store/tables.ts";

export type DnsRecordRow = Selectable<DnsRecordsTable>;

/** One condition of a list. Values are folded as the column is: lower case. */
export type RecordTest =
  | { readonly on: "name" | "content_key" | "comment"; readonly operator: TextOperator; readonly value: string }
  | { readonly on: "comment"; readonly operator: "present" | "absent" }
  | { readonly on: "type"; readonly value: string }
  | { readonly on: "proxied"; readonly value: boolean }
  | { readonly on: "search"; readonly words: readonly string[] }
  /** Any of them, whatever the list's own `match` says. */
  | { readonly on: "any"; readonly tests: readonly RecordTest[] };

/** Conditions on one of the record's tags, `name:value`. */
export interface TagTest {
  readonly operator: TextOperator | "present" | "absent";
  readonly name: string;
  readonly value: string;
}

export interface RecordFilter {
  readonly zone_id: string;
  readonly tests: readonly RecordTest[];
  readonly tags: readonly TagTest[];
  readonly match: "any" | "all";
  readonly tag_match: "any" | "all";
  readonly order: "type" | "name" | "content" | "ttl" | "proxied";
  readonly direction: "asc" | "desc";
}

type Db = Kysely<Tables>;

export const recordById = (db: Db, zoneId: string, id: string): Promise<DnsRecordRow | undefined> =>
  db.selectFrom("dns_records").selectAll().where("id", "=", id).where("zone_id", "=", zoneId).executeTakeFirst();

export const recordIdsOfZone = (db: Db, zoneId: string) =>
  db.selectFrom("dns_records").select("id").where("zone_id", "=", zoneId).execute();

/** Everything, by key, `limit` at a time: the rebuild of the snapshot never holds a second copy of the table. */
export const recordsAfter = (db: Db, id: string, limit: number): Promise<DnsRecordRow[]> =>
  db.selectFrom("dns_records").selectAll().where("id", ">", id).orderBy("id").limit(limit).execute();

export async function deleteRecordsOfZone(db: Db, zoneId: string): Promise<void> {
  await db.deleteFrom("dns_records").where("zone_id", "=", zoneId).execute();
}

export async function listRecords(
  db: Db,
  dialect: Store["dialect"],
  filter: RecordFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ items: DnsRecordRow[]; total: number }> {
  const where = condition(filter, dialect);
  const order = filter.order === "content" ? "content_key" : filter.order;
  // Name, type and id make one order of records that are otherwise equal; all in one direction, as the index is.
  const columns = [...new Set([order, "name", "type", "id"] as const)];
  const found = db.selectFrom("dns_records").selectAll().where("zone_id", "=", filter.zone_id).where(where);
  const items = await columns
    .reduce((query, column) => query.orderBy(column, filter.direction), found)
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  if (items.length > 0 && items.length < page.limit) return { items, total: page.offset + items.length };
  if (page.offset === 0 && items.length === 0) return { items, total: 0 };
  return { items, total: await countRecords(db, filter, where) };
}

async function countRecords(db: Db, filter: RecordFilter, where: Expression<SqlBool>): Promise<number> {
  if (filter.tests.length === 0 && filter.tags.length === 0) {
    const zone = await db.selectFrom("zones").select("record_count").where("id", "=", filter.zone_id).executeTakeFirst();
    return zone?.record_count ?? 0;
  }
  const { total } = await db
    .selectFrom("dns_records")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where("zone_id", "=", filter.zone_id)
    .where(where)
    .executeTakeFirstOrThrow();
  return Number(total);
}

function condition(filter: RecordFilter, dialect: Store["dialect"]): Expression<SqlBool> {
  const parts = filter.tests.map(recordTest);
  if (filter.tags.length > 0)
    parts.push(
      joined(
        filter.tags.map((test) => tagTest(test, dialect)),
        filter.tag_match,
      ),
    );
  return joined(parts, filter.match);
}

const joined = (parts: readonly RawBuilder<SqlBool>[], match: "any" | "all"): RawBuilder<SqlBool> =>
  parts.length === 0
    ? sql`1 = 1`
    : sql`(${sql.join(
        parts.map((part) => sql`(${part})`),
        match === "any" ? sql` OR ` : sql` AND `,
      )})`;

const COMMENT = sql`lower(comment)`;

function recordTest(test: RecordTest): RawBuilder<SqlBool> {
  if (test.on === "type") return sql`type = ${test.value}`;
  if (test.on === "proxied") return sql`proxied = ${test.value ? 1 : 0}`;
  if (test.on === "any") return joined(test.tests.map(recordTest), "any");
  if (test.on === "search") return joined(test.words.map(searchTest), "all");
  if (!("value" in test)) return test.operator === "present" ? sql`comment IS NOT NULL` : sql`comment IS NULL`;
  return textTest(test.on === "comment" ? COMMENT : sql.ref(test.on), test.operator, test.value);
}

/** Free text: the word anywhere in the name, content, comment or tags. */
function searchTest(word: string): RawBuilder<SqlBool> {
  const pattern = `%${escapeLike(word)}%`;
  return joined(
    [sql`name`, sql`content_key`, COMMENT, sql`lower(tags)`].map((column) => sql<SqlBool>`${column} LIKE ${pattern} ESCAPE '\\'`),
    "any",
  );
}

/** Tags are a JSON array; each dialect unfolds it in its own words. */
const TAGS: Readonly<Record<Store["dialect"], RawBuilder<unknown>>> = {
  sqlite: sql`json_each(tags) AS tag`,
  postgres: sql`json_array_elements_text(tags::json) AS tag(value)`,
};

function tagTest(test: TagTest, dialect: Store["dialect"]): RawBuilder<SqlBool> {
  const some = (condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> => sql`EXISTS (SELECT 1 FROM ${TAGS[dialect]} WHERE ${condition})`;
  const value = sql`lower(tag.value)`;
  const named = sql<SqlBool>`${value} = ${test.name} OR ${value} LIKE ${`${escapeLike(test.name)}:%`} ESCAPE '\\'`;
  switch (test.operator) {
    case "present":
      return some(named);
    case "absent":
      return sql`NOT ${some(named)}`;
    case "exact":
      return some(sql`${value} = ${test.value === "" ? test.name : `${test.name}:${test.value}`}`);
    default: {
      const pattern = {
        contains: `%${escapeLike(test.value)}%`,
        startswith: `${escapeLike(test.value)}%`,
        endswith: `%${escapeLike(test.value)}`,
      }[test.operator];
      return some(sql`${value} LIKE ${`${escapeLike(test.name)}:${pattern}`} ESCAPE '\\'`);
    }
  }
}
