import { compileExpression, compileValue, ExpressionError, type ExpressionOptions, textTypes } from "./expression.ts";
import { parseExpression, parseValue } from "#rules/expression/syntax/parse.ts";
import { printExpression, printValue } from "#rules/expression/syntax/print.ts";

/** `filter`: decides whether a rule matches; `value`: written by a rewrite or redirect. */
export type ExpressionUse = "filter" | "value";

export interface ExpressionProblem {
  readonly message: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** The expression in its canonical form. Throws ExpressionError if it cannot be read. */
export const formatExpression = (text: string, use: ExpressionUse): string =>
  use === "filter" ? printExpression(parseExpression(text)) : printValue(parseValue(text));

/** The first mistake of an expression for rules of a phase; null if it can be saved. */
export function expressionProblem(
  text: string,
  phase: string,
  use: ExpressionUse,
  options: ExpressionOptions = {},
): ExpressionProblem | null {
  try {
    if (use === "filter") compileExpression(text, phase, options);
    else compileValue(text, phase, textTypes(phase), options);
    return null;
  } catch (error) {
    if (error instanceof ExpressionError) return { message: error.message, line: error.line, column: error.column };
    throw error;
  }
}
