import type { CompiledQuery, OperationNode } from "kysely";

/** The result of `writtenBy` for all queries of a commit. */
export type WrittenNames = ReadonlySet<string>;

/** `written`: what the commits changed; absent: anything. */
export type CommitListener = (written?: WrittenNames) => void;

/** Stands for everything: a statement whose effects nobody has read from its structure. */
export const ANYTHING = "*";

/**
 * Names of the data that a query changes by itself: a table, or for an update `table.column` for each column. Rows that a deletion takes with
 * it in other tables count as the deleted row's.
 */
export function writtenBy(query: SeenQuery): readonly string[] {
  if ("with" in query && query.with !== undefined) return [ANYTHING];
  switch (query.kind) {
    case "SelectQueryNode":
      return [];
    case "InsertQueryNode":
      return [tableOf(query.into)];
    case "DeleteQueryNode":
      return query.from.froms.map(tableOf);
    case "UpdateQueryNode":
      return query.updates?.map(({ column }) => `${tableOf(query.table)}.${columnOf(column)}`) ?? [ANYTHING];
    default:
      return [ANYTHING];
  }
}

type SeenQuery = CompiledQuery["query"];

interface Named {
  readonly kind: string;
  readonly table?: { readonly identifier?: { readonly name?: string } };
  readonly column?: { readonly name?: string };
}

const tableOf = (node: OperationNode | undefined): string => (node as Named | undefined)?.table?.identifier?.name ?? ANYTHING;

const columnOf = (node: OperationNode): string => (node as Named).column?.name ?? ANYTHING;
