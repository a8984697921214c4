import { PlatformError } from "#kernel/errors/errors.ts";
import type { AnalyticsCell, AnalyticsDataset } from "#model/events/analytics.ts";
import type { RowOrder } from "./analytics-types.ts";

/** The direction in which rows are read. Throws `invalid_input` if the first order is not by time. */
export function timeOrder(dataset: AnalyticsDataset, { by, direction }: RowOrder): RowOrder["direction"] {
  const field = dataset.fields[by];
  if (field === undefined || !("column" in field) || field.intervalMs === undefined)
    throw new PlatformError("invalid_input", {
      message: `orderBy of rows must start with a time: ${by} can only follow datetime_DESC or datetime_ASC.`,
    });
  return direction;
}

type Row = Readonly<Record<string, AnalyticsCell>>;

/** Rows read by time; rows of the same displayed time are sorted by the other requested orders. */
export function inOrder(rows: readonly Row[], orders: readonly RowOrder[]): readonly Row[] {
  if (orders.length === 0) return rows;
  return rows.toSorted((a, b) => {
    for (const { by, direction } of orders) {
      const [x, y] = [a[by] ?? "", b[by] ?? ""];
      if (x !== y) return x < y === (direction === "asc") ? -1 : 1;
    }
    return 0;
  });
}
