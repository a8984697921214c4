import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { ColumnOf, EventTable } from "#events/rows/rows.ts";
import { columnsOf, facetColumns, type FacetName, facetTable } from "#events/rows/schema.ts";

/**
 * `has` means that the column's text contains the value; `like` supports `%` and `_` and ignores ASCII case; `within`
 * means that the address is in the network (CIDR) or equals it; the others compare.
 */
export type ConditionOperator = "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "in" | "not_in" | "has" | "like" | "not_like" | "within";

export interface Condition<T extends EventTable = EventTable> {
  readonly column: ColumnOf<T>;
  readonly operator: ConditionOperator;
  /** A list for `in` and `not_in`. */
  readonly value: string | number | boolean | readonly (string | number)[];
}

/** All parts must hold. In a list, or in `any`, one must. */
export type Where<T extends EventTable = EventTable> = readonly WherePart<T>[];
export type WherePart<T extends EventTable = EventTable> = Condition<T> | readonly Condition<T>[] | { readonly any: readonly Where<T>[] };

export interface Sql {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** The condition as SQL for a table of rows or of a roll-up: both name facets and columns alike. Empty without conditions. */
export function whereSql(db: DatabaseSync, table: EventTable, where: Where): Sql {
  const facetOf = facetsByColumn(table);
  const sites = siteConditions(facetOf, where);
  const others = where.filter((part) => !sites.includes(part as Condition));
  // An index is only read in order for a number that is known beforehand.
  const parts = [...(sites.length === 0 ? [] : [sitesSql(db, sites)]), ...others.map((part) => partSql(facetOf, part))];
  return joined(parts, " AND ");
}

/** The sites that the condition allows; undefined for all. */
export function siteIds(db: DatabaseSync, table: EventTable, where: Where): readonly number[] | undefined {
  const sites = siteConditions(facetsByColumn(table), where);
  return sites.length === 0 ? undefined : facetIds(db, "site", sites);
}

const siteConditions = (facetOf: ReadonlyMap<string, FacetName>, where: Where): readonly Condition[] =>
  where.filter((part): part is Condition => isCondition(part) && part.operator === "eq" && facetOf.get(part.column) === "site");

export const isCondition = <T extends EventTable = EventTable>(part: WherePart<T>): part is Condition<T> => "column" in part;

/** Every column that the condition reads. */
export const columnsIn = (where: Where): readonly string[] =>
  where.flatMap((part) =>
    isCondition(part) ? [part.column] : "any" in part ? part.any.flatMap(columnsIn) : part.map(({ column }) => column),
  );

/** The facet of each column that belongs to one. */
export const facetsByColumn = (table: EventTable): ReadonlyMap<string, FacetName> =>
  new Map(columnsOf(table).flatMap(({ name, facet }) => (facet === null ? [] : [[name, facet] as const])));

function sitesSql(db: DatabaseSync, sites: readonly Condition[]): Sql {
  const ids = facetIds(db, "site", sites);
  return { sql: ids.length === 1 ? `site = ${ids[0]}` : `site IN (${ids.join(", ")})`, values: [] };
}

/** The combinations of a facet that satisfy all conditions. */
export function facetIds(db: DatabaseSync, facet: FacetName, conditions: readonly Condition[]): readonly number[] {
  const { sql, values } = joined(conditions.map(comparison), " AND ");
  return db
    .prepare(`SELECT id FROM ${facetTable(facet)} WHERE ${sql}`)
    .all(...values)
    .map((row) => Number(row["id"]));
}

function partSql(facetOf: ReadonlyMap<string, FacetName>, part: WherePart): Sql {
  if (isCondition(part)) return conditionSql(facetOf, part);
  const alternatives =
    "any" in part
      ? part.any.map((where) =>
          joined(
            where.map((inner) => partSql(facetOf, inner)),
            " AND ",
          ),
        )
      : part.map((condition) => conditionSql(facetOf, condition));
  // An empty list of alternatives is false; an alternative without conditions is true.
  if (alternatives.length === 0) return { sql: "0", values: [] };
  if (alternatives.some(({ sql }) => sql === "")) return { sql: "1", values: [] };
  const { sql, values } = joined(alternatives, " OR ");
  return { sql: `(${sql})`, values };
}

function conditionSql(facetOf: ReadonlyMap<string, FacetName>, condition: Condition): Sql {
  const { sql, values } = comparison(condition);
  const facet = facetOf.get(condition.column);
  if (facet === undefined) return { sql, values };
  return { sql: `${facet} IN (SELECT id FROM ${facetTable(facet)} WHERE ${sql})`, values };
}

/** Column names come from the row types, values are always bound. */
function comparison({ column, operator, value }: Condition): Sql {
  const given = (Array.isArray(value) ? value : [value]) as readonly (string | number | boolean)[];
  const values = given.map((one) => (typeof one === "boolean" ? Number(one) : one));
  return { sql: OPERATORS[operator](column, values.length), values };
}

const marks = (count: number): string => Array(count).fill("?").join(", ");

const OPERATORS: Readonly<Record<ConditionOperator, (column: string, count: number) => string>> = {
  eq: (column) => `${column} = ?`,
  ne: (column) => `${column} <> ?`,
  lt: (column) => `${column} < ?`,
  le: (column) => `${column} <= ?`,
  gt: (column) => `${column} > ?`,
  ge: (column) => `${column} >= ?`,
  in: (column, count) => `${column} IN (${marks(count)})`,
  not_in: (column, count) => `${column} NOT IN (${marks(count)})`,
  has: (column) => `instr(${column}, ?) > 0`,
  like: (column) => `${column} LIKE ?`,
  not_like: (column) => `${column} NOT LIKE ?`,
  within: (column) => `in_network(${column}, ?)`,
};

export const joined = (parts: readonly Sql[], word: string): Sql => ({
  sql: parts.map(({ sql }) => sql).join(word),
  values: parts.flatMap(({ values }) => values),
});

/** A table joined with the texts of its facets, in this order: the table's own index leads. */
export const facetJoins = (facets: Iterable<FacetName>, from: string): string =>
  Array.from(new Set(facets), (facet) => ` CROSS JOIN ${facetTable(facet)} AS f_${facet} ON f_${facet}.id = ${from}.${facet}`).join("");

/** Name of a row's column in such a join. */
export const joinedColumn = (facetOf: ReadonlyMap<string, FacetName>, column: string, from: string): string => {
  const facet = facetOf.get(column);
  if (facet === undefined) return `${from}.${column}`;
  if (!facetColumns(facet).includes(column)) throw new Error(`${facet} has no ${column}`);
  return `f_${facet}.${column}`;
};
