import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql, type SqlBool } from "kysely";
import type { Tables } from "./tables.ts";

/** Tables whose rows per owner are counted by triggers (ADR 0062). */
export type CountedList = "zones" | "gateways" | "custom_hostnames" | "audit_log";

/** The state of a list. `version` increases with any change of its contents or order. */
export interface ListState {
  readonly rows: number;
  readonly version: number;
}

/** The combined state of the owners' lists; null: of all lists. */
export async function listState(db: Kysely<Tables>, list: CountedList, owners: readonly string[] | null): Promise<ListState> {
  const query = db.selectFrom("list_states").where("list", "=", list);
  const { rows, version } = await (owners === null ? query : query.where("owner", "in", owners.length === 0 ? [""] : owners))
    .select((eb) => [eb.fn.sum<number>("row_count").as("rows"), eb.fn.sum<number>("version").as("version")])
    .executeTakeFirstOrThrow();
  return { rows: Number(rows), version: Number(version) };
}

const ENDED = sql`row_count = 0 AND owner <> ''
  AND NOT EXISTS (SELECT 1 FROM zones WHERE zones.id = owner) AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.id = owner)`;

/** Deletes the states of some deleted owners' lists; returns whether there may be more. */
export async function deleteSomeListStates(db: Kysely<Tables>, limit: number): Promise<boolean> {
  const some = sql<{ readonly list: string; readonly owner: string; readonly version: number }>`
    SELECT list, owner, version FROM list_states WHERE ${ENDED} LIMIT ${sql.lit(limit)}`;
  const { rows } = await some.execute(db);
  for (const { list, owner, version } of rows) {
    // few: the key is (list, owner)
    await db.deleteFrom("list_states").where("list", "=", list).where("owner", "=", owner).execute();
    // The sum of the versions of all owners never falls.
    await db
      .insertInto("list_states")
      .values({ list, owner: "", row_count: 0, version: Number(version) })
      .onConflict((conflict) =>
        conflict.columns(["list", "owner"]).doUpdateSet((eb) => ({ version: eb("list_states.version", "+", Number(version)) })),
      )
      .execute();
  }
  return rows.length === limit;
}

/** Values of the columns that a list is sorted by, in order. */
export type RowKey = readonly (string | number)[];

/** A part of a list. */
export interface ListPart {
  readonly limit: number;
  readonly offset: number;
  /** The key of a row after which reading starts, and the number of rows up to it; null: from the start. */
  readonly from?: { readonly position: number; readonly row: RowKey } | null;
}

/** The rows of the part, sorted by columns that identify a row, all in one direction; their index is read from `from` on. */
export function partOf<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  columns: readonly string[],
  direction: "asc" | "desc",
  { limit, offset, from = null }: ListPart,
): SelectQueryBuilder<DB, TB, O> {
  let sorted = from === null ? query : query.where(behind(columns, direction, from.row));
  for (const column of columns) sorted = sorted.orderBy(sql.ref(column), direction);
  return sorted.limit(limit).offset(offset - (from?.position ?? 0));
}

const behind = (columns: readonly string[], direction: "asc" | "desc", key: RowKey): RawBuilder<SqlBool> =>
  sql`(${sql.join(columns.map((column) => sql.ref(column)))}) ${direction === "asc" ? sql`>` : sql`<`} (${sql.join(key)})`;
