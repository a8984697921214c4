import type { GroupQuery } from "#events/sql/group-query.ts";

/** Where all rows are one group, SQL has that group even if there are none. */
export const isSome = (row: Readonly<Record<string, unknown>>): boolean => Number(row["n"]) > 0;

/** The order of groups over columns `n`, `d…` and `m…` that are added up in the same statement; empty where none is asked for. */
export function orderSql({ order }: Pick<GroupQuery, "order">): string {
  const terms = order.map(({ by, direction }) => `${termOf(by)} ${direction === "asc" ? "ASC" : "DESC"}`);
  return terms.length === 0 ? "" : ` ORDER BY ${terms.join(", ")}`;
}

function termOf(by: GroupQuery["order"][number]["by"]): string {
  if (by === "count") return "n";
  if (typeof by === "number") return `d${by}`;
  // In an expression, names are those of what is added up.
  return by.isPerRow ? `IFNULL(SUM(m${by.measure}), 0) * 1.0 / SUM(n)` : `m${by.measure}`;
}
