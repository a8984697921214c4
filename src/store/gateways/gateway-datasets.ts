import { type Kysely, type Selectable, sql } from "kysely";
import { textTest } from "#store/queries/like.ts";
import type { GatewayDatasetsTable, GatewayEvaluationsTable } from "#store/tables/gateways.ts";
import type { Tables } from "#store/queries/tables.ts";

export type GatewayDatasetRow = Selectable<GatewayDatasetsTable>;
export type GatewayEvaluationRow = Selectable<GatewayEvaluationsTable>;

/** The key of a gateway; every query needs both parts. */
export interface GatewayKey {
  readonly account_id: string;
  readonly gateway_id: string;
}

export interface NamedPage {
  /** A part of the name and the whole name, ignoring case; empty: all. */
  readonly search: string;
  readonly name: string;
  readonly limit: number;
  readonly offset: number;
}

/** Tables of named objects that belong to a gateway. */
type Named = "gateway_datasets" | "gateway_evaluations";

/** Newest first. */
export async function listNamed<T extends Named>(
  db: Kysely<Tables>,
  table: T,
  { account_id, gateway_id }: GatewayKey,
  { search, name, limit, offset }: NamedPage,
): Promise<{ readonly items: readonly Selectable<Tables[T]>[]; readonly total: number }> {
  const found = db
    .selectFrom(table as Named)
    .where("account_id", "=", account_id)
    .where("gateway_id", "=", gateway_id)
    .where(textTest(sql`lower(name)`, "contains", search.toLowerCase()))
    .$if(name !== "", (query) => query.where(sql<boolean>`lower(name) = ${name.toLowerCase()}`));
  const items = await found.selectAll().orderBy("created_at", "desc").orderBy("id").limit(limit).offset(offset).execute();
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow();
  return { items: items as unknown as Selectable<Tables[T]>[], total: Number(total) };
}

export async function namedById<T extends Named>(
  db: Kysely<Tables>,
  table: T,
  { account_id, gateway_id }: GatewayKey,
  id: string,
): Promise<Selectable<Tables[T]> | undefined> {
  const row = await db
    .selectFrom(table as Named)
    .selectAll()
    .where("id", "=", id)
    .where("account_id", "=", account_id)
    .where("gateway_id", "=", gateway_id)
    .executeTakeFirst();
  return row as Selectable<Tables[T]> | undefined;
}

export async function deleteNamed(db: Kysely<Tables>, table: Named, id: string): Promise<void> {
  await db.deleteFrom(table).where("id", "=", id).execute();
}

export async function insertDataset(db: Kysely<Tables>, row: GatewayDatasetRow): Promise<void> {
  await db.insertInto("gateway_datasets").values(row).execute();
}

export async function updateDataset(db: Kysely<Tables>, { id, ...values }: GatewayDatasetRow): Promise<void> {
  await db.updateTable("gateway_datasets").set(values).where("id", "=", id).execute();
}

export async function insertEvaluation(db: Kysely<Tables>, row: GatewayEvaluationRow): Promise<void> {
  await db.insertInto("gateway_evaluations").values(row).execute();
}
