import { type Insertable, sql } from "kysely";
import type { Store } from "#store/database/store.ts";
import type { Tables } from "#store/queries/tables.ts";

const AT_ONCE = 200;

/** Copies of a row of the table with other values in some columns, straight into the database: many rows in a second. */
export async function copyRow(
  store: Store,
  table: keyof Tables,
  count: number,
  change: (n: number) => Readonly<Record<string, unknown>>,
): Promise<void> {
  const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(table)} LIMIT 1`.execute(store.read);
  const [template] = rows;
  if (template === undefined) throw new Error(`there is no row of ${table} to copy`);
  const copies = (from: number): Record<string, unknown>[] =>
    Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => ({ ...template, ...change(from + i) }));
  const unit = AT_ONCE * 50;
  for (let at = 0; at < count; at += unit)
    await store.write(async ({ db }) => {
      for (let from = at; from < Math.min(at + unit, count); from += AT_ONCE)
        await db
          .insertInto(table)
          .values(copies(from) as unknown as Insertable<Tables[typeof table]>[])
          .execute();
    });
}
