import type { ComputedColumn } from "#events/rows/computed-columns.ts";
import type { ColumnOf, EventTable } from "#events/rows/rows.ts";
import type { Where } from "./where-sql.ts";

export interface GroupQuery<T extends EventTable = EventTable> {
  readonly where: Where<T>;
  readonly by: readonly GroupBy<T>[];
  readonly measures: readonly Measure<T>[];
  /** Positions in `by`, the count, or positions in `measures`; sums also by their average per row. */
  readonly order: readonly {
    readonly by: number | "count" | { readonly measure: number; readonly isPerRow?: boolean };
    readonly direction: "asc" | "desc";
  }[];
  readonly limit: number;
}

/** A dimension that rows are counted by: a column, or a time cut to whole intervals. */
export interface GroupBy<T extends EventTable = EventTable> {
  readonly column: ColumnOf<T>;
  readonly intervalMs?: number;
}

/** A value of a group besides its count. */
export interface Measure<T extends EventTable = EventTable> {
  /** `sum` weights each row by the number it represents; `unique` counts different values; a number is a percentile. */
  readonly kind: "sum" | "unique" | number;
  readonly column: ColumnOf<T> | ComputedColumn<T>;
}

export interface Group {
  readonly count: number;
  /** In the order of `by`. */
  readonly dimensions: readonly (string | number | null)[];
  /** In the order of `measures`. */
  readonly measures: readonly number[];
  /** Every n-th row was read and represents those in between. */
  readonly sampleInterval: number;
}
