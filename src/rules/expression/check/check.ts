import type { CheckContext, Checker } from "./checker.ts";
import type { ArgumentNode, Index, LiteralNode, Node, Value as ValueNode } from "#rules/expression/syntax/ast.ts";
import { checkCall } from "./check-call.ts";
import { checkCompared, checkComparison, checkListed } from "./check-comparison.ts";
import { ExpressionError } from "#rules/expression/syntax/expression-error.ts";
import { fieldExists, fieldNamed, FIELDS } from "#rules/expression/fields/fields.ts";
import type { Field } from "#rules/expression/fields/field.ts";
import { functionNamed, signatureOf } from "#rules/expression/functions/functions.ts";
import { writeString } from "#rules/expression/syntax/strings.ts";
import { nearest } from "./suggest.ts";
import type { TypedNode, TypedValue } from "./typed-ast.ts";
import { arrayOf, BOOLEAN, INTEGER, IP, sameType, STRING, typeName, type ValueType } from "#rules/expression/values/value-type.ts";
import { parseAddressRange } from "#rules/expression/values/address-set.ts";

/** Resolves the names of a filter and checks its types. Throws ExpressionError. */
export function checkExpression(at: Node, context: CheckContext): TypedNode {
  const checker = createChecker(context);
  const node = checker.node(at);
  if (node.many) checker.fail(at, "returns one result for each item; use it within any() or all()");
  return node;
}

/** The same for an expression that gives a value of one of the types. Throws ExpressionError. */
export function checkValue(at: ArgumentNode, types: readonly ValueType[], context: CheckContext): TypedValue {
  const checker = createChecker(context);
  const value = checker.argument(at);
  if (value.unpacked) checker.fail(at, "returns one value for each item; select one, as in [0]");
  if (!types.some((type) => sameType(value.type, type)))
    checker.fail(at, `has type ${typeName(value.type)}, but ${types.map(typeName).join(" or ")} is required here`);
  return value;
}

function createChecker(context: CheckContext): Checker {
  const checker: Checker = {
    context,
    calledOnce: new Set(),
    fail: (span, reason) => {
      throw new ExpressionError(context.text, span, reason);
    },
    node: (at) => checkNode(checker, at),
    value: (at) => checkIndexed(checker, at),
    argument: (at) => checkArgument(checker, at),
  };
  return checker;
}

function checkNode(checker: Checker, at: Node): TypedNode {
  if (at.kind === "constant") return { kind: "constant", many: false, value: at.value };
  if (at.kind === "not") {
    const operand = checker.node(at.operand);
    return { kind: "not", many: operand.many, operand };
  }
  if (at.kind === "comparison") return checkComparison(checker, at);
  if (at.kind === "compared") return checkCompared(checker, at);
  if (at.kind === "listed") return checkListed(checker, at);
  if (at.kind === "truth") return checkTruth(checker, at.value);
  return checkConnective(checker, at);
}

function checkConnective(checker: Checker, at: Node & { readonly kind: "and" | "xor" | "or" }): TypedNode {
  const operands = at.operands.map((operand) => checker.node(operand));
  const many = operands[0]?.many ?? false;
  const bases = new Set<string>();
  for (const [i, operand] of operands.entries()) {
    if (operand.many !== many) checker.fail(at.operands[i] ?? at, `${at.kind} joins either single results or arrays of results, not both`);
    if (many) for (const base of basesOf(operand)) bases.add(base);
    if (bases.size > 1) checker.fail(at.operands[i] ?? at, `[*] can be repeated only for the same array: ${[...bases].join(", ")}`);
  }
  return { kind: at.kind, many, operands };
}

function basesOf(node: TypedNode): readonly string[] {
  if (node.kind === "constant") return [];
  if (node.kind === "not") return basesOf(node.operand);
  if (node.kind === "test" || node.kind === "truth" || node.kind === "compared") return [node.value.base];
  return node.operands.flatMap(basesOf);
}

function checkTruth(checker: Checker, at: ValueNode): TypedNode {
  const value = checker.value(at);
  if (value.type.kind === "boolean") return { kind: "truth", many: value.unpacked, value };
  if (value.type.kind === "array" && value.type.of.kind === "boolean" && !value.unpacked) return { kind: "truth", many: true, value };
  return checker.fail(at, `has type ${typeName(value.type)}, which must be compared`);
}

function checkArgument(checker: Checker, at: ArgumentNode): TypedValue {
  if (at.kind === "field" || at.kind === "call") return checker.value(at);
  if (isLiteral(at)) return literalValue(checker, at);
  const node = checker.node(at);
  const text = checker.context.text.slice(at.from, at.to);
  return { kind: "answer", node, type: node.many ? arrayOf(BOOLEAN) : BOOLEAN, unpacked: false, text, base: text };
}

const isLiteral = (at: ArgumentNode): at is LiteralNode =>
  at.kind === "string" || at.kind === "integer" || at.kind === "word" || at.kind === "range";

/** A literal among arguments: only the literal itself shows its type. */
function literalValue(checker: Checker, at: LiteralNode): TypedValue {
  const made = (type: ValueType, value: string | number | bigint, text: string): TypedValue => ({
    kind: "literal",
    type,
    value,
    text,
    base: text,
    unpacked: false,
  });
  if (at.kind === "string") return made(STRING, at.value, writeString(at.value));
  if (at.kind === "integer") {
    const small = Number(at.value);
    return made(INTEGER, Number.isSafeInteger(small) ? small : at.value, String(at.value));
  }
  if (at.kind === "word" && parseAddressRange(at.text) !== undefined && !at.text.includes("/")) return made(IP, at.text, at.text);
  return checker.fail(at, "expected a string, an integer or an address");
}

function checkIndexed(checker: Checker, at: ValueNode): TypedValue {
  const whole = at.kind === "field" ? checkField(checker, at) : checkCall(checker, at);
  return at.indexes.reduce((value, index) => checkIndex(checker, value, index, at), whole);
}

function checkField(checker: Checker, at: ValueNode & { readonly kind: "field" }): TypedValue {
  const { phase, counts } = checker.context;
  const field = fieldNamed(at.name);
  if (field === undefined) {
    const called = functionNamed(at.name);
    if (called !== undefined) return checker.fail(at, `${at.name} is a function: ${signatureOf(called)}`);
    const near = nearest(
      at.name,
      FIELDS.map((known) => known.name),
    );
    return checker.fail(at, `unknown field "${at.name}"${near === undefined ? "" : `; did you mean ${near}?`}`);
  }
  if (!fieldExists(field, phase, counts === true)) return checker.fail(at, `the field "${at.name}" does not exist in phase ${phase.name}`);
  checker.context.onField?.(field);
  return { kind: "field", field, type: field.type, unpacked: false, text: field.name, base: field.name };
}

function checkIndex(checker: Checker, of: TypedValue, index: Index, at: ValueNode): TypedValue {
  const { type } = of;
  if (index.kind === "each") {
    if (type.kind !== "array" && type.kind !== "map") return checker.fail(index, `${typeName(type)} has no items for [*]`);
    // For a function that is called for each item, and for an array in an array, the inner array is the base.
    const base = of.unpacked || (of.kind === "call" && of.mapped) ? of.base : of.text;
    return { kind: "each", of, type: type.of, unpacked: true, text: `${of.text}[*]`, base };
  }
  const key = index.kind === "key" ? keyOf(of, index.key) : index.place;
  const text = `${of.text}[${typeof key === "string" ? writeString(key) : key}]`;
  if (type.kind === "map" && typeof key === "string")
    return { kind: "index", of, key, type: type.of, unpacked: of.unpacked, text, base: of.base };
  if (type.kind === "array" && typeof key === "number")
    return { kind: "index", of, key, type: type.of, unpacked: of.unpacked, text, base: of.base };
  if (type.kind === "map")
    return checker.fail(index, `${typeName(type)} needs a name as index, as in ${at.kind === "field" ? at.name : of.text}["name"]`);
  if (type.kind === "array") return checker.fail(index, `${typeName(type)} needs a number as index, as in [0]`);
  return checker.fail(index, `${typeName(type)} has no index`);
}

/** Header names are in lower case; other spellings find them too. */
const keyOf = (of: TypedValue, key: string): string => (of.kind === "field" && isHeaderField(of.field) ? key.toLowerCase() : key);

const isHeaderField = (field: Field): boolean => field.readKey !== undefined;
