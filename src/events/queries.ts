import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { PlatformError } from "#kernel/errors.ts";
import { isDamaged } from "./repair.ts";
import type { EventTable, EventTables } from "./rows.ts";
import { decodeRow, EVENT_SCHEMA } from "./schema.ts";

/** `has` asks whether the column's text contains the value; the rest compare. */
export type ConditionOperator = "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "has";

export interface Condition<T extends EventTable> {
  readonly column: keyof EventTables[T] & string;
  readonly operator: ConditionOperator;
  /** A list for `in`. */
  readonly value: string | number | boolean | readonly (string | number)[];
}

/** Conditions of one inner list are alternatives; all lists must hold. */
export type Where<T extends EventTable> = readonly (Condition<T> | readonly Condition<T>[])[];

export interface EventQuery<T extends EventTable> {
  readonly where: Where<T>;
  /** By time unless said; rows that agree are ordered by arrival. */
  readonly order_by?: keyof EventTables[T] & string;
  /** Newest first unless said. */
  readonly direction?: "asc" | "desc";
  readonly limit: number;
  readonly offset?: number;
}

/** A dimension that rows are counted by: a column, or a time cut to whole intervals. */
export interface GroupBy<T extends EventTable> {
  readonly column: keyof EventTables[T] & string;
  readonly intervalMs?: number;
}

export interface GroupQuery<T extends EventTable> {
  readonly where: Where<T>;
  readonly by: readonly GroupBy<T>[];
  /** What each row counts for. */
  readonly weight: keyof EventTables[T] & string;
  /** Columns to be summed, each row as often as it counts. */
  readonly sums: readonly (keyof EventTables[T] & string)[];
  /** Positions in `by`, or the count. */
  readonly order: readonly { readonly by: number | "count"; readonly direction: "asc" | "desc" }[];
  readonly limit: number;
}

export interface Group {
  readonly count: number;
  /** In the order of `by`. */
  readonly dimensions: readonly (string | number | null)[];
  /** In the order of `sums`. */
  readonly sums: readonly number[];
}

/** Reads events for control. A database that does not exist yet has no rows. */
export interface EventQueries {
  list<T extends EventTable>(table: T, query: EventQuery<T>): readonly EventTables[T][];
  count<T extends EventTable>(table: T, where: Where<T>): number;
  /** Of very many rows only every so manieth is read, and counts for those between: the work stays bounded. */
  groups<T extends EventTable>(table: T, query: GroupQuery<T>): readonly Group[];
  close(): void;
}

export function openEventQueries(path: string): EventQueries {
  let db: DatabaseSync | null = null;
  /** Of the open file: the writer may have begun a new one. */
  let inode = 0;

  const reopen = (): DatabaseSync => {
    db?.close();
    db = null;
    const opened = new DatabaseSync(path, { readOnly: true });
    opened.exec("PRAGMA busy_timeout = 1000");
    inode = statSync(path).ino;
    return (db = opened);
  };

  /** Runs against the database, or gives `empty` as long as the writer has not made it. */
  const read = <R>(empty: R, work: (open: DatabaseSync) => R): R => {
    const file = statSync(path, { throwIfNoEntry: false });
    if (file === undefined) return empty;
    try {
      return work(db !== null && file.ino === inode ? db : reopen());
    } catch (error) {
      if (isDamaged(error)) throw new PlatformError("database_damaged", { cause: error });
      if (!(error instanceof Error) || !error.message.startsWith("no such table")) throw error;
      return empty;
    }
  };

  return {
    list: (table, query) =>
      read([], (open) => {
        const schema = EVENT_SCHEMA[table];
        const { sql, values } = whereSql(query.where);
        const direction = query.direction === "asc" ? "ASC" : "DESC";
        const columns = schema.columns.map((column) => column.name).join(", ");
        const order = `${String(query.order_by ?? "at_ms")} ${direction}, row_id ${direction}`;
        const rows = open
          .prepare(`SELECT ${columns} FROM ${table}${sql} ORDER BY ${order} LIMIT ? OFFSET ?`)
          .all(...values, query.limit, query.offset ?? 0);
        return rows.map((row) => decodeRow(schema, row));
      }),
    count: (table, where) =>
      read(0, (open) => {
        const { sql, values } = whereSql(where);
        return Number(open.prepare(`SELECT COUNT(*) AS n FROM ${table}${sql}`).get(...values)?.["n"]);
      }),
    groups: (table, query) => read([], (open) => readGroups(open, table, query)),
    close: () => {
      db?.close();
      db = null;
    },
  };
}

/** Some 0.2 s of work. */
const GROUPED_ROWS_MAX = 200_000;

function readGroups<T extends EventTable>(open: DatabaseSync, table: T, query: GroupQuery<T>): readonly Group[] {
  const { sql, values } = whereSql(query.where);
  const rows = Number(open.prepare(`SELECT COUNT(*) AS n FROM ${table}${sql}`).get(...values)?.["n"]);
  const every = Math.max(1, Math.ceil(rows / GROUPED_ROWS_MAX));
  const sample = every === 1 ? "" : `${sql === "" ? " WHERE" : " AND"} row_id % ${every} = 0`;
  const dimensions = query.by.map(
    ({ column, intervalMs }, i) => `${intervalMs === undefined ? column : `${column} / ${intervalMs} * ${intervalMs}`} AS d${i}`,
  );
  const sums = query.sums.map((column, i) => `SUM(${column} * ${query.weight}) * ${every} AS s${i}`);
  const grouped = query.by.length === 0 ? "" : ` GROUP BY ${query.by.map((_, i) => `d${i}`).join(", ")}`;
  const order = query.order.map(({ by, direction }) => `${by === "count" ? "n" : `d${by}`} ${direction === "asc" ? "ASC" : "DESC"}`);
  const columns = [`IFNULL(SUM(${query.weight}), 0) * ${every} AS n`, ...dimensions, ...sums].join(", ");
  const found = open
    .prepare(`SELECT ${columns} FROM ${table}${sql}${sample}${grouped}${order.length === 0 ? "" : ` ORDER BY ${order.join(", ")}`} LIMIT ?`)
    .all(...values, query.limit);
  return found.map((row) => ({
    count: Number(row["n"]),
    dimensions: query.by.map((_, i) => row[`d${i}`] as string | number | null),
    sums: query.sums.map((_, i) => Number(row[`s${i}`] ?? 0)),
  }));
}

const COMPARISONS: Readonly<Record<Exclude<ConditionOperator, "in" | "has">, string>> = {
  eq: "=",
  ne: "<>",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
};

interface Sql {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

function whereSql<T extends EventTable>(where: Where<T>): Sql {
  const parts = where.map((entry) => {
    const alternatives = ("column" in entry ? [entry] : entry).map(conditionSql);
    return { sql: `(${alternatives.map((part) => part.sql).join(" OR ") || "0"})`, values: alternatives.flatMap((part) => part.values) };
  });
  if (parts.length === 0) return { sql: "", values: [] };
  return { sql: ` WHERE ${parts.map((part) => part.sql).join(" AND ")}`, values: parts.flatMap((part) => part.values) };
}

/** Column names come from the row types, values are always bound. */
function conditionSql<T extends EventTable>({ column, operator, value }: Condition<T>): Sql {
  const values = (Array.isArray(value) ? value : [value]).map((one: string | number | boolean) =>
    typeof one === "boolean" ? Number(one) : one,
  );
  if (operator === "in") return { sql: `${column} IN (${values.map(() => "?").join(", ")})`, values };
  if (operator === "has") return { sql: `instr(${column}, ?) > 0`, values };
  return { sql: `${column} ${COMPARISONS[operator]} ?`, values };
}
