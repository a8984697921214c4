import type { Kysely } from "kysely";
import type { Tables } from "#store/queries/tables.ts";

/** A named value of the installation; the caller seals confidential ones. */
export async function secretValue(db: Kysely<Tables>, name: string): Promise<string | null> {
  const row = await db.selectFrom("secrets").select("value").where("name", "=", name).executeTakeFirst();
  return row?.value ?? null;
}

/** The first value stays: two control nodes may start on one database at once. */
export async function putSecretIfAbsent(
  db: Kysely<Tables>,
  row: { readonly name: string; readonly value: string; readonly created_on: string },
): Promise<void> {
  await db
    .insertInto("secrets")
    .values(row)
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}

/** Inserts the value or replaces it. */
export async function putSecret(
  db: Kysely<Tables>,
  row: { readonly name: string; readonly value: string; readonly created_on: string },
): Promise<void> {
  const { name: _, ...values } = row;
  await db
    .insertInto("secrets")
    .values(row)
    .onConflict((conflict) => conflict.column("name").doUpdateSet(values))
    .execute();
}
