import type { GroupQuery, Measure } from "#events/sql/group-query.ts";
import { columnsOf } from "#events/rows/schema.ts";
import { type ClickHouseTable, tableName } from "./tables.ts";
import { type Binder, clickHouseWhere, createBinder } from "./where.ts";

/** In these tables each row says how many it represents. */
const WEIGHTS: Partial<Record<ClickHouseTable, string>> = { dns_queries: "sample_interval" };

/** Rows counted by dimensions: all rows, without roll-ups and samples. Names are `n`, `d…` and `m…`, as in the embedded database. */
export function groupStatement(table: ClickHouseTable, query: GroupQuery): Pick<Binder, "params"> & { readonly sql: string } {
  const { where, by, measures, limit } = query;
  const binder = createBinder();
  const known = new Set(columnsOf(table).map(({ name }): string => name));
  const checked = (column: string): string => {
    if (!known.has(column)) throw new Error(`the table has no column ${column}`);
    return column;
  };
  const weight = WEIGHTS[table];
  const dimensions = by.map(({ column, intervalMs }, i) => {
    const name = checked(column);
    const step = intervalMs === undefined ? "" : binder.bind("Int64", intervalMs);
    return `${step === "" ? name : `intDiv(${name}, ${step}) * ${step}`} AS d${i}`;
  });
  const values = measures.map((measure, i) => `${measureText({ ...measure, column: checked(measure.column) }, weight)} AS m${i}`);
  const columns = [`${weight === undefined ? "count()" : `sum(${weight})`} AS n`, ...dimensions, ...values];
  const grouped = by.length === 0 ? "" : ` GROUP BY ${by.map((_, i) => `d${i}`).join(", ")}`;
  const condition = clickHouseWhere(table, where, binder);
  const text = `SELECT ${columns.join(", ")} FROM ${tableName(table)} WHERE ${condition}${grouped}`;
  return { sql: `SELECT * FROM (${text})${orderText(query)} LIMIT ${binder.bind("UInt64", Math.ceil(limit))}`, params: binder.params };
}

function measureText({ kind, column }: { readonly kind: Measure["kind"]; readonly column: string }, weight: string | undefined): string {
  if (kind === "sum") return `ifNull(sum(${weight === undefined ? column : `${column} * ${weight}`}), 0)`;
  if (kind === "unique") return `uniqExact(${column})`;
  // Between two values the way SQLite's percentile() does it. A parameter of a function cannot be bound; this one is a number.
  return `ifNull(quantileExactInclusiveOrNull(${Number(kind) / 100})(${column}), 0)`;
}

function orderText({ order }: Pick<GroupQuery, "order">): string {
  const terms = order.map(({ by, direction }) => {
    // SQLite has null before all values.
    const way = direction === "asc" ? "ASC NULLS FIRST" : "DESC NULLS LAST";
    if (by === "count") return `n ${way}`;
    if (typeof by === "number") return `d${by} ${way}`;
    return `${by.isPerRow === true ? `m${by.measure} / n` : `m${by.measure}`} ${way}`;
  });
  return terms.length === 0 ? "" : ` ORDER BY ${terms.join(", ")}`;
}
