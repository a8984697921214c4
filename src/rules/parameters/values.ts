import { compileValue as compileTyped, ExpressionError, type ExpressionOptions, textTypes } from "#rules/expression/expression.ts";
import { isObject, type Shape, text, object, type TextRules, problem } from "./shape.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/** Parameters with every expression in them replaced by its value. */
export type Parameters = Readonly<Record<string, unknown>>;
export type ReadParameters = (request: RequestView, response: ResponseView | null) => Parameters;

type Read = (request: RequestView, response: ResponseView | null) => unknown;

/** A text that is written out (`value`) or computed (`expression`). */
export const source = (rules: TextRules = {}): Shape =>
  object({ value: text(rules), expression: valueExpression }, { one: ["value", "expression"] });

export const valueExpression: Shape = (value, at, { phase, around }) => {
  if (typeof value !== "string") return [problem(at, "expression must be a string")];
  try {
    compileText(value, phase, { lists: around.lists, regexes: around.regexes });
    return [];
  } catch (error) {
    if (error instanceof ExpressionError) return [problem(at, error.message)];
    throw error;
  }
};

/** Strings of one char for each byte, as expressions have them. */
export const compileText = (expression: string, phase: string, options: ExpressionOptions): Read =>
  compileTyped(expression, phase, textTypes(phase), options);

/**
 * Compiles a reader of parameters for requests, which returns them with `value` instead of each `expression`. Null if
 * they have no expression, so that they are constant.
 */
export function compileParameters(parameters: Parameters, phase: string, options: ExpressionOptions): ReadParameters | null {
  const read = compileTree(parameters, phase, options);
  return read === null ? null : (request, response) => read(request, response) as Parameters;
}

function compileTree(value: unknown, phase: string, options: ExpressionOptions): Read | null {
  if (!isObject(value)) return null;
  const members: [string, Read][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (key === "expression" && typeof member === "string") members.push(["value", compileText(member, phase, options)]);
    else if (key === "key" && typeof member === "string") members.push(["key", compileText(member, phase, options)]);
    else {
      const read = compileTree(member, phase, options);
      if (read !== null) members.push([key, read]);
    }
  }
  if (members.length === 0) return null;
  const { expression: _, ...rest } = value;
  return (request, response) => {
    const result: Record<string, unknown> = { ...rest };
    for (const [key, read] of members) result[key] = read(request, response);
    return result;
  };
}
