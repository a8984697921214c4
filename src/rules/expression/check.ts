import type { Phase } from "../phases.ts";
import type { Literal, Node, Value } from "./ast.ts";
import { comparisonTest } from "./comparison.ts";
import { ExpressionError, type Span } from "./expression-error.ts";
import { type Field, fieldNamed } from "./fields.ts";
import { FUNCTIONS } from "./functions.ts";
import type { Typed, TypedValue } from "./typed.ts";

/** Resolves names and checks types for a phase. Throws ExpressionError. */
export function checkExpression(node: Node, phase: Phase, text: string): Typed {
  const fail = (span: Span, reason: string): never => {
    throw new ExpressionError(text, span, reason);
  };

  const checkNode = (at: Node): Typed => {
    if (at.kind === "constant") return { kind: "constant", value: at.value };
    if (at.kind === "not") return { kind: "not", operand: checkNode(at.operand) };
    if (at.kind === "comparison") return { kind: "test", applies: comparisonTest(at, checkValue(at.left), fail) };
    if (at.kind === "truth") return truth(at.value);
    return { kind: at.kind, operands: at.operands.map(checkNode) };
  };

  const truth = (at: Value): Typed => {
    const value = checkValue(at);
    if (value.type !== "boolean") return fail(at, `is ${NAMES[value.type]}, which needs a comparison`);
    const read = value.read;
    return { kind: "test", applies: (request, response) => read(request, response) === true };
  };

  const checkValue = (at: Value): TypedValue => (at.kind === "field" ? checkField(at) : checkCall(at));

  const checkField = (at: Value & { kind: "field" }): TypedValue => {
    const field = fieldNamed(at.name);
    if (field === undefined) return fail(at, `unknown field "${at.name}"`);
    if (field.side === "response" && phase.side !== "response")
      return fail(at, `the field "${at.name}" does not exist in phase ${phase.name}`);
    if (field.type === "headers") return indexed(field, at);
    if (at.keys.length > 0) return fail(at, `"${at.name}" is ${NAMES[field.type]} and has no index`);
    return field;
  };

  const indexed = (field: Field & { type: "headers" }, at: Value & { kind: "field" }): TypedValue => {
    const [name, place, ...more] = at.keys;
    if (typeof name !== "string") return fail(at, `"${at.name}" needs a name, as in ${at.name}["name"][0]`);
    if (more.length > 0 || typeof place === "string")
      return fail(at, `after its name "${at.name}" takes one number, as in ${at.name}["name"][0]`);
    const key = name.toLowerCase();
    if (place === undefined) return { type: "strings", read: (request, response) => field.read(request, response, key) };
    return { type: "string", read: (request, response) => field.read(request, response, key)[place] };
  };

  const checkCall = (at: Value & { kind: "call" }): TypedValue => {
    const called = FUNCTIONS.get(at.name);
    if (called === undefined) return fail(at, `unknown function "${at.name}"`);
    if (called.parameters.length !== at.arguments.length)
      return fail(at, `${at.name}() takes ${called.parameters.length} argument${called.parameters.length === 1 ? "" : "s"}`);
    const values = at.arguments.map((argument, index) => {
      const value = checkArgument(argument);
      const allowed = called.parameters[index] ?? [];
      return allowed.includes(value.type)
        ? value
        : fail(argument, `${at.name}() takes ${allowed.map((type) => NAMES[type]).join(" or ")} here, not ${NAMES[value.type]}`);
    });
    return called.make(values);
  };

  const checkArgument = (at: Value | Literal): TypedValue => {
    if (at.kind === "field" || at.kind === "call") return checkValue(at);
    if (at.kind === "string") return { type: "string", read: () => at.value };
    if (at.kind === "integer") return { type: "integer", read: () => at.first };
    return { type: "address", read: () => at.text };
  };

  return checkNode(node);
}

const NAMES: Readonly<Record<TypedValue["type"], string>> = {
  string: "a string",
  integer: "an integer",
  boolean: "true or false",
  address: "an address",
  strings: "a list",
};
