import { createCidrSet, parseCidr } from "#kernel/cidr.ts";
import { isIp } from "#kernel/ip.ts";
import type { Predicate } from "../types.ts";
import type { Literal, Node, Operator } from "./ast.ts";
import type { Span } from "./expression-error.ts";
import { lowerBytes } from "./functions.ts";
import type { Reader, Relation, TypedValue } from "./typed.ts";
import { wildcardProblem, wildcardTest } from "./wildcard.ts";

type Comparison = Node & { readonly kind: "comparison" };
type Fail = (span: Span, reason: string) => never;

/** The compiled test of a comparison whose left side is checked. Calls `fail` where operator and types do not go together. */
export function comparisonTest(node: Comparison, left: TypedValue, fail: Fail): Predicate {
  if (left.type === "string") return stringTest(node, left.read, fail);
  if (left.type === "integer") return integerTest(node, left.read, fail);
  if (left.type === "address") return addressTest(node, left.read, fail);
  if (left.type === "boolean") return fail(node.operator_span, "true or false needs no comparison; use the value itself, or not");
  return fail(node.left, "a list needs the number of the item, as in [0]");
}

const RELATIONS: Readonly<Partial<Record<Operator, Relation>>> = { eq: "eq", ne: "ne", lt: "lt", le: "le", gt: "gt", ge: "ge" };

function stringTest(node: Comparison, read: Reader<string>, fail: Fail): Predicate {
  const texts = node.right.map((literal) => (literal.kind === "string" ? literal.value : fail(literal, "expected a string")));
  if (node.operator === "in") {
    const set = new Set(texts);
    return (request, response) => {
      const value = read(request, response);
      return value !== undefined && set.has(value);
    };
  }
  const text = texts[0] ?? "";
  const relation = RELATIONS[node.operator];
  if (relation !== undefined) return related(read, relation, text);
  if (node.operator === "contains") return tested(read, (value) => value.includes(text));
  const problem = wildcardProblem(text);
  if (problem !== null) fail(node.right[0] ?? node, problem);
  if (node.operator === "strict wildcard") return tested(read, wildcardTest(text));
  const test = wildcardTest(lowerBytes(text));
  return tested(read, (value) => test(lowerBytes(value)));
}

const tested =
  <T>(read: Reader<T>, test: (value: T) => boolean): Predicate =>
  (request, response) => {
    const value = read(request, response);
    return value !== undefined && test(value);
  };

/** One closure a relation, so that none decides at run time. A missing value is never in any relation, `ne` included. */
function related<T extends string | number>(read: Reader<T>, relation: Relation, bound: T): Predicate {
  if (relation === "eq") return (request, response) => read(request, response) === bound;
  if (relation === "ne") return tested(read, (value) => value !== bound);
  if (relation === "lt") return tested(read, (value) => value < bound);
  if (relation === "le") return tested(read, (value) => value <= bound);
  if (relation === "gt") return tested(read, (value) => value > bound);
  return tested(read, (value) => value >= bound);
}

function integerTest(node: Comparison, read: Reader<number>, fail: Fail): Predicate {
  const items = node.right.map((literal) => (literal.kind === "integer" ? literal : fail(literal, "expected an integer")));
  if (node.operator === "in") {
    const ranges = items.map(({ first, last }) => ({ first, last })).sort((a, b) => a.first - b.first);
    return tested(read, (value) => ranges.some((range) => range.first <= value && value <= range.last));
  }
  const relation = RELATIONS[node.operator];
  if (relation === undefined) return fail(node.operator_span, `${node.operator} compares strings, not integers`);
  return related(read, relation, items[0]?.first ?? 0);
}

function addressTest(node: Comparison, read: Reader<string>, fail: Fail): Predicate {
  const blocks = node.right.map((literal) => addressBlock(literal, node.operator === "in", fail));
  if (node.operator !== "in" && node.operator !== "eq" && node.operator !== "ne")
    return fail(node.operator_span, "addresses are compared by eq, ne and in");
  const set = createCidrSet(blocks);
  if (node.operator === "ne") return tested(read, (value) => !set.has(value));
  return tested(read, (value) => set.has(value));
}

function addressBlock(literal: Literal, mayBeBlock: boolean, fail: Fail): string {
  if (literal.kind !== "address") return fail(literal, "expected an address, without quotes");
  if (!mayBeBlock && !isIp(literal.text))
    return fail(literal, literal.text.includes("/") ? "an address block stands in { } after in" : "not an address");
  if (parseCidr(literal.text) === undefined) return fail(literal, "not an address or block");
  return literal.text;
}
