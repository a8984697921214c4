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

/** Reads events for control. A database that does not exist yet has no rows. */
export interface EventQueries {
  list<T extends EventTable>(table: T, query: EventQuery<T>): readonly EventTables[T][];
  count<T extends EventTable>(table: T, where: Where<T>): number;
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
    close: () => {
      db?.close();
      db = null;
    },
  };
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
