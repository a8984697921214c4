import { deleteOwned } from "#store/queries/in-chunks.ts";
import { nowSeconds, STEP_MAX, SERIAL_MAX } from "#store/queries/zone-serial.ts";
import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Kysely,
  type Selectable,
  sql,
  type SqlBool,
  type Updateable,
} from "kysely";
import { textTest, type TextOperator } from "#store/queries/like.ts";
import { type ListPart, partOf, type RowKey } from "#store/queries/list-pages.ts";
import { prepareQuery } from "#store/queries/prepared-query.ts";
import { reversed } from "#store/queries/reversed.ts";
import type { Unit } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { ZonesTable } from "#store/tables/zones.ts";

export type ZoneRow = Omit<Selectable<ZonesTable>, "name_reversed">;
/** A zone with the name of its account, which responses show. */
export type ZoneWithAccount = ZoneRow & { readonly account_name: string };

export interface ZoneFilter {
  readonly name?: { readonly operator: TextOperator; readonly value: string; readonly negated: boolean };
  readonly status?: string;
  readonly types?: readonly string[];
  readonly account_id?: string;
  readonly account_name?: { readonly operator: TextOperator; readonly value: string; readonly negated: boolean };
  readonly match: "any" | "all";
  /** The zones that the caller may see; null: all. */
  readonly reach: ZoneReach | null;
  readonly order: "name" | "status" | "account.id" | "account.name" | "plan.id";
  readonly direction: "asc" | "desc";
}

/** All zones of the accounts in `every`, and those in `some` whose account is in `accounts`; never those in `not`. */
export interface ZoneReach {
  readonly every: readonly string[];
  readonly some: readonly string[];
  readonly accounts: readonly string[];
  readonly not: readonly string[];
}

type Builder = ExpressionBuilder<Tables, "zones" | "accounts">;

const ORDER_COLUMNS = {
  name: "zones.name",
  status: "zones.status",
  "account.id": "zones.account_id",
  "account.name": "accounts.name",
  "plan.id": "zones.plan",
} as const;

const withAccount = (db: Kysely<Tables>) =>
  db
    .selectFrom("zones")
    .innerJoin("accounts", "accounts.id", "zones.account_id")
    .selectAll("zones")
    .select("accounts.name as account_name");

export const zoneById = (db: Kysely<Tables>, id: string): Promise<ZoneWithAccount | undefined> =>
  withAccount(db).where("zones.id", "=", id).executeTakeFirst();

/** The row without fields of its account. */
export const zoneRowById = (db: Kysely<Tables>, id: string): Promise<ZoneRow | undefined> =>
  db.selectFrom("zones").selectAll().where("id", "=", id).executeTakeFirst();

/** Locks the zone until the transaction ends; false if it does not exist. */
export const lockZone = async (db: Kysely<Tables>, id: string): Promise<boolean> =>
  (await db
    .updateTable("zones")
    .set((eb) => ({ serial: eb.ref("serial") }))
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst()) !== undefined;

export const zonesOfAccount = (db: Kysely<Tables>, accountId: string): Promise<ZoneRow[]> =>
  db.selectFrom("zones").selectAll().where("account_id", "=", accountId).orderBy("name").execute();

export const anyZone = async (db: Kysely<Tables>): Promise<boolean> =>
  (await db.selectFrom("zones").select("id").limit(1).executeTakeFirst()) !== undefined;

export const allZones = (db: Kysely<Tables>): Promise<ZoneRow[]> => db.selectFrom("zones").selectAll().orderBy("id").execute();

export async function insertZone(db: Kysely<Tables>, row: Omit<Insertable<ZonesTable>, "name_reversed">): Promise<void> {
  await db
    .insertInto("zones")
    .values({ ...row, name_reversed: reversed(row.name) })
    .execute();
}

export async function updateZone(db: Kysely<Tables>, id: string, values: Updateable<ZonesTable>): Promise<void> {
  await db.updateTable("zones").set(values).where("id", "=", id).execute();
}

export async function deleteZone(db: Kysely<Tables>, id: string): Promise<void> {
  await deleteOwned(db, "zones", sql`id = ${id}`);
  await db.deleteFrom("zones").where("id", "=", id).execute();
}

export type TouchedZone = Pick<ZoneRow, "serial" | "record_count" | "dns_version_count" | "type" | "settings"> & {
  /** Kind and id of the large change in progress, separated by a space. */
  readonly large_change: string | null;
};

/**
 * Raises the serial and the numbers of records and versions in one statement, which also locks the zone on PostgreSQL, so
 * that the following checks see no other writer. Undefined if the zone does not exist.
 */
export async function touchZone(
  { db, clock }: Pick<Unit, "db" | "clock">,
  id: string,
  recordsAdded = 0,
  versionsAdded = 0,
): Promise<TouchedZone | undefined> {
  return (await raiseSerial(db, id, nowSeconds(clock), recordsAdded, versionsAdded))[0];
}

/**
 * The current time in seconds, or the next serial if that is not greater: a restored zone continues above its serials
 * from after the backup. 2^32 - 1 is followed by 1, because some secondaries take 0 for "unset" (RFC 1982).
 */
const raiseSerial = prepareQuery((db, id: string, now: number, recordsAdded: number, versionsAdded: number) =>
  db
    .updateTable("zones")
    .set({
      serial: sql<number>`CASE WHEN serial >= ${sql.lit(SERIAL_MAX)} THEN 1 WHEN ${now} - serial BETWEEN 1 AND ${sql.lit(STEP_MAX)} THEN ${now} ELSE serial + 1 END`,
      record_count: sql<number>`record_count + ${recordsAdded}`,
      dns_version_count: sql<number>`dns_version_count + ${versionsAdded}`,
    })
    .where("id", "=", id)
    .returning(["serial", "record_count", "dns_version_count", "type", "settings"])
    .returning(sql<string | null>`(SELECT kind || ' ' || id FROM dns_imports WHERE zone_id = ${id})`.as("large_change")),
);

/**
 * Adds to the record count for a large import, or subtracts for its undo; returns the new count, or undefined if the zone
 * does not exist.
 */
export async function countImported(db: Kysely<Tables>, id: string, added: number): Promise<number | undefined> {
  const row = await db
    .updateTable("zones")
    .set({ record_count: sql<number>`record_count + ${added}` })
    .where("id", "=", id)
    .returning("record_count")
    .executeTakeFirst();
  return row?.record_count;
}

export async function listZones(db: Kysely<Tables>, filter: ZoneFilter, part: ListPart): Promise<ZoneWithAccount[]> {
  const found = withAccount(db).where(isListed(filter));
  return filter.order === "name"
    ? partOf(found, ["zones.name", "zones.id"], filter.direction, part).execute()
    : found
        .orderBy(ORDER_COLUMNS[filter.order], filter.direction)
        .orderBy("zones.name")
        .orderBy("zones.id")
        .limit(part.limit)
        .offset(part.offset)
        .execute();
}

export async function countZones(db: Kysely<Tables>, filter: ZoneFilter): Promise<number> {
  const { total } = await db
    .selectFrom("zones")
    .innerJoin("accounts", "accounts.id", "zones.account_id")
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .where(isListed(filter))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** The sort key of the list, if an index has its order. */
export const zoneListKey = ({ order }: ZoneFilter): ((row: ZoneRow) => RowKey) | null =>
  order === "name" ? ({ name, id }) => [name, id] : null;

/** The owners of the zones in the list (null: any), and whether the list has all their zones. */
export function zoneListOwners({ name, status, types, account_id, account_name, reach }: ZoneFilter): {
  readonly owners: readonly string[] | null;
  readonly isWhole: boolean;
} {
  const isFiltered = [name, status, types, account_name].some((test) => test !== undefined);
  if (reach === null) return { owners: account_id === undefined ? null : [account_id], isWhole: !isFiltered };
  const isByAccount = reach.some.length === 0 && reach.not.length === 0;
  if (!isByAccount || isFiltered) return { owners: [...new Set([...reach.every, ...reach.accounts])], isWhole: false };
  return { owners: reach.every.filter((id) => account_id === undefined || id === account_id), isWhole: true };
}

const isListed =
  (filter: ZoneFilter) =>
  (eb: Builder): Expression<SqlBool> =>
    eb.and([isVisible(eb, filter.reach), matching(eb, filter)]);

/** Whether the reach has the zone of the query's row. */
export function isVisible(eb: Builder, reach: ZoneReach | null): Expression<SqlBool> {
  if (reach === null) return eb.and([]);
  const some =
    reach.some.length === 0 || reach.accounts.length === 0
      ? eb.or([])
      : eb.and([eb("zones.id", "in", reach.some), eb("zones.account_id", "in", reach.accounts)]);
  const every = reach.every.length === 0 ? eb.or([]) : eb("zones.account_id", "in", reach.every);
  // An empty alternative would keep SQLite from using the index of accounts.
  return eb.and([
    reach.some.length === 0 ? every : eb.or([every, some]),
    ...(reach.not.length === 0 ? [] : [eb("zones.id", "not in", reach.not)]),
  ]);
}

function matching(eb: Builder, filter: ZoneFilter): Expression<SqlBool> {
  const tests: Expression<SqlBool>[] = [];
  if (filter.name) tests.push(named(eb, eb.ref("zones.name"), filter.name));
  if (filter.account_name) tests.push(named(eb, sql`lower(${eb.ref("accounts.name")})`, filter.account_name));
  if (filter.status !== undefined) tests.push(eb("zones.status", "=", filter.status));
  if (filter.types) tests.push(eb("zones.type", "in", filter.types));
  if (filter.account_id !== undefined) tests.push(eb("zones.account_id", "=", filter.account_id));
  if (tests.length === 0) return eb.and([]);
  return filter.match === "any" ? eb.or(tests) : eb.and(tests);
}

function named(
  eb: Builder,
  column: Expression<unknown>,
  test: { operator: TextOperator; value: string; negated: boolean },
): Expression<SqlBool> {
  const positive = textTest(column, test.operator, test.value);
  return test.negated ? eb.not(positive) : positive;
}
