import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Tables } from "./tables.ts";

/** Rows of one statement, which runs in one go. */
export const PIECE_ROWS = 100;

export interface RowsToDelete {
  readonly table: keyof Tables & string;
  /** The primary key. */
  readonly key: readonly string[];
  readonly where: RawBuilder<unknown>;
}

/**
 * Deletes all rows that match, however many there are, some in each statement; the unit's session leaves the event loop to others
 * between them. Begin with the rows that refer to others: a cascade runs in one go.
 */
export async function deleteInPieces(db: Kysely<Tables>, { table, key, where }: RowsToDelete, atOnce = PIECE_ROWS): Promise<void> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const from = sql`${sql.table(table)} WHERE ${where}`;
  const piece = sql`DELETE FROM ${sql.table(table)} WHERE (${columns}) IN (SELECT ${columns} FROM ${from} LIMIT ${sql.lit(atOnce)})`;
  for (;;) {
    const { numAffectedRows = 0n } = await piece.execute(db);
    if (numAffectedRows < BigInt(atOnce)) return;
  }
}
