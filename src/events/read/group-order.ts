import type { GroupQuery } from "#events/sql/group-query.ts";

/** If all rows are one group, SQL returns that group even without rows. */
export const isSome = (row: Readonly<Record<string, unknown>>): boolean => Number(row["n"]) > 0;

/** The order of groups over columns `n`, `d…` and `m…` that are summed in the same statement; empty if no order is requested. */
export function orderSql({ order }: Pick<GroupQuery, "order">): string {
  const terms = order.map(({ by, direction }) => `${termOf(by)} ${direction === "asc" ? "ASC" : "DESC"}`);
  return terms.length === 0 ? "" : ` ORDER BY ${terms.join(", ")}`;
}

function termOf(by: GroupQuery["order"][number]["by"]): string {
  if (by === "count") return "n";
  if (typeof by === "number") return `d${by}`;
  // In an expression, names refer to the summed columns.
  return by.isPerRow ? `IFNULL(SUM(m${by.measure}), 0) * 1.0 / SUM(n)` : `m${by.measure}`;
}
