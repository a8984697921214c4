import { checkExpression } from "./expression/check.ts";
import { compileNode } from "./expression/compile.ts";
import { ExpressionError } from "./expression/expression-error.ts";
import { parseExpression } from "./expression/parse.ts";
import { phaseNamed } from "./phases.ts";
import type { Predicate } from "./types.ts";

export { ExpressionError };

// waf.md: "Expression language", limits.
export const EXPRESSION_CHARACTERS_MAX = 4096;

/**
 * Compiles a filter expression for rules of a phase. The predicate never throws and never waits.
 * Throws ExpressionError, and nothing else, with the line, the column and the mark of the first mistake.
 */
export function compileExpression(text: string, phase: string): Predicate {
  const known = phaseNamed(phase);
  if (known === undefined) throw new ExpressionError(text, { from: 0, to: 0 }, `unknown phase "${phase}"`);
  if (text.length > EXPRESSION_CHARACTERS_MAX) {
    throw new ExpressionError(
      text,
      { from: EXPRESSION_CHARACTERS_MAX, to: EXPRESSION_CHARACTERS_MAX + 1 },
      `the expression is longer than ${EXPRESSION_CHARACTERS_MAX} characters`,
    );
  }
  return compileNode(checkExpression(parseExpression(text), known, text));
}
