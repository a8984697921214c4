import { checkExpression, checkValue } from "#rules/expression/check/check.ts";
import type { CheckContext } from "#rules/expression/check/checker.ts";
import { compileNode, compileValue as compileTyped, type Reader } from "#rules/expression/compile/compile.ts";
import { rememberTree } from "#rules/expression/compile/dispatch.ts";
import { ExpressionError } from "#rules/expression/syntax/expression-error.ts";
import { HEADER_TRANSFORMS } from "#rules/expression/functions/availability.ts";
import type { Field } from "#rules/expression/fields/field.ts";
import { createRegexTable, REGEX_POSITIONS_MAX, type RegexTable } from "#rules/regex/regex-table.ts";
import type { NamedLists } from "#rules/expression/values/lists.ts";
import { lex, type Token } from "#rules/expression/syntax/lex.ts";
import { parseExpression, parseValue } from "#rules/expression/syntax/parse.ts";
import { IP, STRING, type ValueType } from "#rules/expression/values/value-type.ts";
import { phaseNamed } from "#rules/phases.ts";
import type { Predicate } from "#rules/views.ts";

export { ExpressionError };

// waf.md: "Expression language", limits.
export const EXPRESSION_CHARACTERS_MAX = 4096;

export interface ExpressionOptions {
  /** For `in $name`; without it every list is unknown. */
  readonly lists?: NamedLists;
  /** Whether the expression decides what a rate limit counts; it may then read the response. */
  readonly counts?: boolean;
  /** Called for each field that the expression reads. */
  readonly onField?: (field: Field) => void;
  /** The regular expressions of its ruleset; by default those of this expression alone. */
  readonly regexes?: RegexTable | undefined;
}

/**
 * Compiles a filter expression for rules of a phase. The predicate never throws and never waits. Throws only
 * ExpressionError, with the line, the column and the marked position of the first mistake.
 */
export function compileExpression(text: string, phase: string, options: ExpressionOptions = {}): Predicate {
  const context = contextOf(text, phase, "filter", options);
  const tree = checkExpression(parseExpression(text), context);
  return rememberTree(compileNode(tree), tree);
}

/**
 * Compiles an expression that returns a value, as in rewrites and redirects. The value is undefined if a part of it is
 * missing; the reader never throws and never waits. Throws only ExpressionError.
 */
export function compileValue(text: string, phase: string, type: ValueType | readonly ValueType[], options: ExpressionOptions = {}): Reader {
  const context = contextOf(text, phase, "value", options);
  return compileTyped(checkValue(parseValue(text), [type].flat(), context));
}

/** Names of the lists after `in $` in an expression; empty if it cannot be read. */
export function listsNamed(text: string): readonly string[] {
  if (!text.includes("$")) return [];
  try {
    const tokens = lex(text);
    return tokens.flatMap((token, i) => (token.kind === "name" && textOf(tokens[i - 1]) === "$" ? [token.text] : []));
  } catch {
    return [];
  }
}

/** Names of the fields of a client's place and network that an expression reads; empty if it cannot be read. */
export function placesNamed(text: string): readonly string[] {
  if (!PLACE.test(text)) return [];
  try {
    return [...new Set(lex(text).flatMap((token) => (token.kind === "name" && PLACE.test(token.text) ? [token.text] : [])))];
  } catch {
    return [];
  }
}

const PLACE = /\bip\.(?:src|geoip)\.[a-z]/;

const textOf = (token: Token | undefined): string => (token?.kind === "symbol" ? token.text : "");

/** The types that may replace a text in rules of a phase: a header's value may be an address. */
export const textTypes = (phase: string): readonly ValueType[] =>
  (HEADER_TRANSFORMS as readonly string[]).includes(phase) ? [STRING, IP] : [STRING];

function contextOf(text: string, phase: string, use: CheckContext["use"], options: ExpressionOptions): CheckContext {
  const known = phaseNamed(phase);
  if (known === undefined) throw new ExpressionError(text, { from: 0, to: 0 }, `unknown phase "${phase}"`);
  if (text.length > EXPRESSION_CHARACTERS_MAX) {
    throw new ExpressionError(
      text,
      { from: EXPRESSION_CHARACTERS_MAX, to: EXPRESSION_CHARACTERS_MAX + 1 },
      `the expression is longer than ${EXPRESSION_CHARACTERS_MAX} characters`,
    );
  }
  return { text, phase: known, use, ...options, regexes: options.regexes ?? createRegexTable(REGEX_POSITIONS_MAX) };
}
