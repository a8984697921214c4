import type { ArgumentNode, Value as ValueNode } from "#rules/expression/syntax/ast.ts";
import type { Phase } from "#rules/phases.ts";
import type { NamedLists } from "#rules/expression/values/lists.ts";
import type { Field } from "#rules/expression/fields/field.ts";
import type { RegexTable } from "#rules/regex/regex-table.ts";
import type { Span } from "#rules/expression/syntax/expression-error.ts";
import type { Node } from "#rules/expression/syntax/ast.ts";
import type { TypedNode, TypedValue } from "./typed-ast.ts";

/** Where an expression stands. */
export interface CheckContext {
  readonly text: string;
  readonly phase: Phase;
  /** A filter decides, a value is what an action writes. */
  readonly use: "filter" | "value";
  /** Without lists no name of one is known. */
  readonly lists?: NamedLists | undefined;
  /** Counting expressions of rate limits may look at the response. */
  readonly counts?: boolean | undefined;
  /** Told of each field that is read. */
  readonly onField?: ((field: Field) => void) | undefined;
  readonly regexes: RegexTable;
}

/** Refuses the expression at that place. */
export type Fail = (span: Span, reason: string) => never;

export interface Checker {
  readonly context: CheckContext;
  readonly fail: Fail;
  /** Names of functions that were called and may be called once. */
  readonly calledOnce: Set<string>;
  node(at: Node): TypedNode;
  value(at: ValueNode): TypedValue;
  argument(at: ArgumentNode): TypedValue;
}
