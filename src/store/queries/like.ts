import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";

export type TextOperator = "exact" | "contains" | "startswith" | "endswith";

/** The value as a literal inside a LIKE pattern whose escape character is the backslash. */
export const escapeLike = (value: string): string => value.replace(/[\\%_]/g, "\\$&");

/** A comparison of text. If case should not matter, `column` must already be folded to lower case. */
export function textTest(column: Expression<unknown>, operator: TextOperator, value: string): RawBuilder<SqlBool> {
  switch (operator) {
    case "exact":
      return sql`${column} = ${value}`;
    case "contains":
      return sql`${column} LIKE ${`%${escapeLike(value)}%`} ESCAPE '\\'`;
    case "endswith":
      return sql`${column} LIKE ${`%${escapeLike(value)}`} ESCAPE '\\'`;
    case "startswith":
      // A range, which an index serves; LIKE would need a case-insensitive index on SQLite.
      return value === "" ? sql`1 = 1` : sql`${column} >= ${value} AND ${column} < ${`${value}\u{10ffff}`}`;
  }
}
