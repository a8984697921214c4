import type { ArgumentNode, Value as ValueNode } from "#rules/expression/syntax/ast.ts";
import type { Checker } from "./checker.ts";
import { functionNamed, FUNCTIONS, isOfKind, KINDS, signatureOf } from "#rules/expression/functions/functions.ts";
import type { Availability, LanguageFunction, Parameter, Problem } from "#rules/expression/functions/language-function.ts";
import { fieldNamed } from "#rules/expression/fields/fields.ts";
import { nearest } from "./suggest.ts";
import type { TypedValue } from "./typed-ast.ts";
import { arrayOf, typeName, type ValueType } from "#rules/expression/values/value-type.ts";

type Call = ValueNode & { readonly kind: "call" };

/** Checks the name, place, number and types of arguments of a call. Throws ExpressionError. */
export function checkCall(checker: Checker, at: Call): TypedValue {
  const called = findFunction(checker, at);
  checkCount(checker, at, called);
  const values = at.arguments.map((argument, i) => checkOne(checker, called, argument, i));
  const literals = values.map((value) => (value.kind === "literal" ? value.value : undefined));
  const [first] = values;
  const mapped = first?.unpacked ?? false;
  const types = values.map((value) => value.type);
  const problem: Problem = (argument, message) => checker.fail(at.arguments[argument] ?? at, message);
  called.agree?.(types, problem);
  const single = typeof called.returns === "function" ? called.returns(types) : called.returns;
  const body = called.make(literals, problem, single, checker.context.regexes);
  const type: ValueType = mapped ? arrayOf(single) : single;
  const text = `${called.name}(${values.map((value) => value.text).join(", ")})`;
  return {
    kind: "call",
    called,
    body,
    arguments: values,
    mapped,
    type,
    unpacked: false,
    text,
    base: mapped ? (first?.base ?? text) : text,
  };
}

function findFunction(checker: Checker, at: Call): LanguageFunction {
  const { phase, use } = checker.context;
  const called = functionNamed(at.name);
  if (called === undefined) {
    if (fieldNamed(at.name) !== undefined) return checker.fail(at.name_span, `${at.name} is a field and has no arguments`);
    const near = nearest(
      at.name,
      FUNCTIONS.map((known) => known.name),
    );
    return checker.fail(at.name_span, `unknown function "${at.name}"${near === undefined ? "" : `; did you mean ${near}()?`}`);
  }
  const where = use === "filter" ? called.filters : called.values;
  if (!isAvailable(where, phase.name))
    return checker.fail(at.name_span, `${at.name}() cannot be called in ${placeName(use)} of phase ${phase.name}`);
  if (called.once !== undefined) {
    if (checker.calledOnce.has(called.once))
      return checker.fail(at.name_span, "an expression can call regex_replace() or wildcard_replace() only once, and not both");
    checker.calledOnce.add(called.once);
  }
  return called;
}

export const isAvailable = (where: Availability, phase: string): boolean =>
  where === "everywhere" || (where !== "nowhere" && (where as readonly string[]).includes(phase));

const placeName = (use: "filter" | "value"): string => (use === "filter" ? "filters" : "expressions that give a value");

function checkCount(checker: Checker, at: Call, called: LanguageFunction): void {
  const least = called.parameters.filter((parameter) => parameter.optional !== true).length;
  const most = called.rest === undefined ? called.parameters.length : Number.POSITIVE_INFINITY;
  if (at.arguments.length >= least && at.arguments.length <= most) return;
  const range = most === least ? `${least}` : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
  const count = `${range} argument${range === "1" ? "" : "s"}`;
  checker.fail(at, `${at.name}() takes ${count}, found ${at.arguments.length}: ${signatureOf(called)}`);
}

function checkOne(checker: Checker, called: LanguageFunction, at: ArgumentNode, index: number): TypedValue {
  const parameter = called.parameters[index] ?? called.rest;
  const value = checker.argument(at);
  if (parameter === undefined) return value;
  if (value.unpacked && index > 0) checker.fail(at, "[*] is allowed only in the first argument");
  if (!parameter.takes.some((kind) => isOfKind(value.type, kind)))
    checker.fail(at, `${called.name}() takes ${wanted(parameter)} here, found ${typeName(value.type)}`);
  const literal = value.kind === "literal";
  if (parameter.only === "literal" && !literal) checker.fail(at, `${called.name}() requires a literal for ${parameter.name}`);
  if (parameter.only === "field" && literal) checker.fail(at, `${called.name}() does not accept a literal for ${parameter.name}`);
  if (parameter.fields !== undefined && !parameter.fields.includes(value.text))
    checker.fail(at, `${called.name}() accepts only ${parameter.fields.join(" or ")} here`);
  return value;
}

const wanted = (parameter: Parameter): string => parameter.takes.map((kind) => KINDS[kind]).join(" or ");
