import { type AddressRange, parseAddressRange } from "#rules/expression/values/address-set.ts";
import type { LiteralNode, Node } from "#rules/expression/syntax/ast.ts";
import type { Checker } from "./checker.ts";
import { isManagedList, managedList, managedListNames } from "#rules/expression/values/managed-lists.ts";
import type { ListKind } from "#rules/expression/values/lists.ts";
import type { Span } from "#rules/expression/syntax/expression-error.ts";
import { BYTES, isRelation } from "#rules/expression/syntax/parse.ts";
import { RegexError } from "#rules/regex/regex.ts";
import type { IntegerRange, TypedNode, TypedTest, TypedValue } from "./typed-ast.ts";
import { sameType, typeName, type ValueType } from "#rules/expression/values/value-type.ts";
import { wildcardProblem } from "#rules/regex/wildcard.ts";

type Comparison = Node & { readonly kind: "comparison" };
type Compared = Node & { readonly kind: "compared" };
type Listed = Node & { readonly kind: "listed" };
type Comparable = "string" | "integer" | "ip";

/** Checks that operator and right side suit the type of the left side. Throws ExpressionError. */
export function checkComparison(checker: Checker, at: Comparison): TypedNode {
  const value = checker.value(at.left);
  const test = TESTS[comparable(checker, at, value, at.left)](checker, at);
  return { kind: "test", many: value.unpacked, value, test };
}

/** Checks a comparison of two values of the request, which must have the same type. Throws ExpressionError. */
export function checkCompared(checker: Checker, at: Compared): TypedNode {
  const value = checker.value(at.left);
  const kind = comparable(checker, at, value, at.left);
  if (kind === "ip" && at.operator !== "eq" && at.operator !== "ne") checker.fail(at.operator_span, ADDRESS_OPERATORS);
  const other = checker.value(at.right);
  if (other.unpacked) checker.fail(at.right, "[*] is allowed only on the left of a comparison");
  if (!sameType(value.type, other.type)) checker.fail(at.right, `expected ${typeName(value.type)}, found ${typeName(other.type)}`);
  return { kind: "compared", many: value.unpacked, value, relation: at.operator, other };
}

function comparable(checker: Checker, at: Comparison | Compared, { type }: TypedValue, side: Span): Comparable {
  if (type.kind === "boolean") return checker.fail(at.operator_span, "a Boolean cannot be compared; use it alone or with not");
  if (type.kind === "array" || type.kind === "map")
    return checker.fail(side, `${typeName(type)} cannot be compared; select an item, or use [*] within any() or all()`);
  return type.kind;
}

const ADDRESS_OPERATORS = "addresses can be compared only with eq, ne and in";

const LIST_TYPES: Readonly<Record<ListKind, Comparable>> = { ip: "ip", asn: "integer", hostname: "string", redirect: "string" };

/** `left in $name` */
export function checkListed(checker: Checker, at: Listed): TypedNode {
  const value = checker.value(at.left);
  const isManaged = isManagedList(at.list);
  const list = isManaged ? managedList(at.list) : checker.context.lists?.find(at.list);
  if (list === undefined) {
    const known = isManaged ? `; managed lists are ${managedListNames().join(", ")}` : "";
    return checker.fail(at.list_span, `the list "${at.list}" does not exist${known}`);
  }
  const needed = LIST_TYPES[list.kind];
  if (value.type.kind !== needed)
    return checker.fail(at.list_span, `"${at.list}" is a list of kind ${list.kind}, which does not contain ${typeName(value.type)} values`);
  return { kind: "test", many: value.unpacked, value, test: { kind: "list", list } };
}

const TESTS: Readonly<Record<Comparable, (checker: Checker, at: Comparison) => TypedTest>> = {
  string: stringTest,
  integer: integerTest,
  ip: addressTest,
};

function stringTest(checker: Checker, at: Comparison): TypedTest {
  if (at.operator === "bitwise_and") return checker.fail(at.operator_span, "bitwise_and accepts Integers, not Strings");
  const texts = at.right.map((literal) => stringOf(checker, literal));
  const text = texts[0] ?? "";
  if (at.operator === "in") return { kind: "strings", items: texts };
  if (isRelation(at.operator)) return { kind: "string", relation: at.operator, bound: text };
  if (at.operator === "contains") return { kind: "contains", part: text };
  if (at.operator === "matches") return regexTest(checker, at, text);
  const problem = wildcardProblem(text);
  if (problem !== null) checker.fail(at.right[0] ?? at, problem);
  return { kind: "wildcard", pattern: text, strict: at.operator === "strict wildcard" };
}

function regexTest(checker: Checker, at: Comparison, pattern: string): TypedTest {
  try {
    return { kind: "matches", pattern, regex: checker.context.regexes.test(pattern) };
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    return checker.fail(at.right[0] ?? at, `the regular expression has an error at its character ${error.at + 1}: ${error.message}`);
  }
}

function stringOf(checker: Checker, literal: LiteralNode): string {
  if (literal.kind === "string") return literal.value;
  if (literal.kind === "word" && BYTES.test(literal.text)) return Buffer.from(literal.text.replace(/[:.-]/g, ""), "hex").toString("latin1");
  return wrong(checker, literal, { kind: "string" });
}

function integerTest(checker: Checker, at: Comparison): TypedTest {
  if (at.operator === "in") return { kind: "integers", items: at.right.map((literal) => integerRange(checker, literal)) };
  const [literal] = at.right;
  if (at.operator !== "bitwise_and" && !isRelation(at.operator))
    return checker.fail(at.operator_span, `${at.operator} accepts Strings, not Integers`);
  if (literal?.kind !== "integer") return wrong(checker, literal ?? at, { kind: "integer" });
  if (at.operator === "bitwise_and") return { kind: "bits", mask: literal.value };
  return { kind: "integer", relation: at.operator, bound: literal.value };
}

function integerRange(checker: Checker, literal: LiteralNode): IntegerRange {
  if (literal.kind === "integer") return { first: literal.value, last: literal.value };
  if (literal.kind !== "range" || literal.first.kind !== "integer" || literal.last.kind !== "integer")
    return wrong(checker, literal, { kind: "integer" });
  if (literal.last.value < literal.first.value) checker.fail(literal, "the end of the range is before its start");
  return { first: literal.first.value, last: literal.last.value };
}

function addressTest(checker: Checker, at: Comparison): TypedTest {
  if (at.operator !== "in" && at.operator !== "eq" && at.operator !== "ne") return checker.fail(at.operator_span, ADDRESS_OPERATORS);
  const items = at.right.map((literal) => addressRange(checker, literal, at.operator === "in"));
  return { kind: "addresses", items, negated: at.operator === "ne" };
}

function addressRange(checker: Checker, literal: LiteralNode, inSet: boolean): AddressRange {
  if (literal.kind === "range" && literal.first.kind === "word" && literal.last.kind === "word") {
    const range = parseAddressRange(`${literal.first.text}..${literal.last.text}`);
    return range ?? checker.fail(literal, "a range of addresses goes from one to a later one of the same family");
  }
  if (literal.kind !== "word") return wrong(checker, literal, { kind: "ip" });
  if (!inSet && literal.text.includes("/")) return checker.fail(literal, "an address block must be in { } after in");
  return parseAddressRange(literal.text) ?? checker.fail(literal, "not an address or block");
}

function wrong(checker: Checker, literal: LiteralNode | Node, expected: ValueType): never {
  const quotes = expected.kind === "ip" && literal.kind === "string" ? ", without quotes" : "";
  return checker.fail(literal, `expected ${typeName(expected)}${quotes}, found ${FOUND[literal.kind] ?? "something else"}`);
}

const FOUND: Readonly<Partial<Record<(LiteralNode | Node)["kind"], string>>> = {
  string: "String",
  integer: "Integer",
  word: "an address or bytes",
  range: "a range",
};
