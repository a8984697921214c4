import type { ArgumentNode, Value as ValueNode } from "#rules/expression/syntax/ast.ts";
import type { Phase } from "#rules/phases.ts";
import type { NamedLists } from "#rules/expression/values/lists.ts";
import type { Field } from "#rules/expression/fields/field.ts";
import type { RegexTable } from "#rules/regex/regex-table.ts";
import type { Span } from "#rules/expression/syntax/expression-error.ts";
import type { Node } from "#rules/expression/syntax/ast.ts";
import type { TypedNode, TypedValue } from "./typed-ast.ts";

/** Context of an expression. */
export interface CheckContext {
  readonly text: string;
  readonly phase: Phase;
  /** A filter decides; a value is written by an action. */
  readonly use: "filter" | "value";
  /** Without lists, every list name is unknown. */
  readonly lists?: NamedLists | undefined;
  /** Counting expressions of rate limits may read the response. */
  readonly counts?: boolean | undefined;
  /** Called for each field that is read. */
  readonly onField?: ((field: Field) => void) | undefined;
  readonly regexes: RegexTable;
}

/** Refuses the expression at that place. */
export type Fail = (span: Span, reason: string) => never;

export interface Checker {
  readonly context: CheckContext;
  readonly fail: Fail;
  /** Names of called functions that may be called only once. */
  readonly calledOnce: Set<string>;
  node(at: Node): TypedNode;
  value(at: ValueNode): TypedValue;
  argument(at: ArgumentNode): TypedValue;
}
