import type { EventTable } from "#events/rows/rows.ts";
import { columnsOf, EVENT_SCHEMA } from "#events/rows/schema.ts";
import { facetJoins, facetsByColumn, joined, joinedColumn, type Sql } from "./where-sql.ts";

export const NOTHING: Sql = { sql: "", values: [] };

export const both = (a: Sql, b: Sql): Sql =>
  joined(
    [a, b].filter(({ sql }) => sql !== ""),
    " AND ",
  );

/** The matching rows, under the name `t`. */
export const fromRows = (table: EventTable, { sql, values }: Sql): Sql => ({
  sql: `(SELECT * FROM ${table}${sql === "" ? "" : ` WHERE ${sql}`}) AS t`,
  values,
});

/** Whole rows from the rows that `from` calls `t`. */
export function selectSql(table: EventTable, { sql, values }: Sql): Sql {
  const facetOf = facetsByColumn(table);
  const columns = columnsOf(table).map(({ name }) => `${joinedColumn(facetOf, name, "t")} AS ${name}`);
  return { sql: `SELECT t.row_id, ${columns.join(", ")} FROM ${sql}${facetJoins(EVENT_SCHEMA[table].facets, "t")}`, values };
}
