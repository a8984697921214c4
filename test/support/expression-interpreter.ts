import { arrayOf, STRING } from "#rules/expression/values/value-type.ts";
import type { ArgumentNode, LiteralNode, Node, Operator, Relation, Value as ValueNode } from "#rules/expression/syntax/ast.ts";
import { fieldNamed } from "#rules/expression/fields/fields.ts";
import { functionNamed } from "#rules/expression/functions/functions.ts";
import { createRegexTable } from "#rules/regex/regex-table.ts";
import { parseExpression } from "#rules/expression/syntax/parse.ts";
import type { Value, ValueMap } from "#rules/expression/values/value-type.ts";
import { cidrContains, parseCidr } from "#kernel/net/cidr.ts";
import { compareIp, type IpAddress, parseIp } from "#kernel/net/ip.ts";
import { RE2JS } from "re2js";
import type { RequestView, ResponseView } from "#rules/views.ts";

/**
 * Walks an expression's tree and computes it in the simplest way: no checks, no compilation, no sharing. A reference for
 * the compiler, in meaning and in speed; texts must be valid.
 */
export function interpretExpression(text: string): (request: RequestView, response: ResponseView | null) => boolean {
  const tree = parseExpression(text);
  return (request, response) => single(evaluate(tree, { request, response }));
}

interface Context {
  readonly request: RequestView;
  readonly response: ResponseView | null;
}

/** One answer, or one for each item of an array. */
type Answer = boolean | readonly boolean[];

/** The items that `[*]` made of a value. */
class Items {
  readonly values: readonly Value[];
  constructor(values: readonly Value[]) {
    this.values = values;
  }
}

type Found = Value | Items | undefined;

function single(answer: Answer): boolean {
  if (typeof answer !== "boolean") throw new TypeError("an array of answers");
  return answer;
}

function evaluate(node: Node, context: Context): Answer {
  if (node.kind === "constant") return node.value;
  if (node.kind === "not") {
    const answer = evaluate(node.operand, context);
    return typeof answer === "boolean" ? !answer : answer.map((one) => !one);
  }
  if (node.kind === "listed") throw new TypeError("lists are not interpreted");
  if (node.kind === "truth") {
    const value = valueOf(node.value, context);
    // A missing array is unpacked to no items.
    return value === undefined && isMany(node.value) ? [] : truth(value);
  }
  if (node.kind === "compared") {
    const [left, right] = [valueOf(node.left, context), valueOf(node.right, context)];
    if (left === undefined) return isUnpacked(node.left) ? [] : false;
    const passes = (value: Value): boolean => right !== undefined && related(value, node.operator, right as Value);
    return left instanceof Items ? left.values.map(passes) : passes(left);
  }
  if (node.kind === "comparison") {
    const left = valueOf(node.left, context);
    const passes = (value: Value): boolean => compare(value, node.operator, node.right);
    if (left instanceof Items) return left.values.map(passes);
    if (left === undefined) return isUnpacked(node.left) ? [] : false;
    return passes(left);
  }
  const join = JOINS[node.kind];
  return node.operands.map((operand) => evaluate(operand, context)).reduce((a, b) => joined(a, b, join));
}

const JOINS: Readonly<Record<"and" | "or" | "xor", (a: boolean, b: boolean) => boolean>> = {
  and: (a, b) => a && b,
  or: (a, b) => a || b,
  xor: (a, b) => a !== b,
};

function joined(a: Answer, b: Answer, join: (a: boolean, b: boolean) => boolean): Answer {
  if (typeof a === "boolean" && typeof b === "boolean") return join(a, b);
  if (typeof a === "boolean" || typeof b === "boolean") throw new TypeError("one answer and several");
  return a.slice(0, b.length).map((one, i) => join(one, b[i] ?? false));
}

function truth(value: Found): Answer {
  if (value instanceof Items) return value.values.map((one) => one === true);
  return Array.isArray(value) ? value.map((one) => one === true) : value === true;
}

/** By its text only: the last `[*]` that no function has folded. */
const isUnpacked = (node: ValueNode): boolean => node.indexes.some((index) => index.kind === "each");

/** Also a function that is called for each item. */
function isMany(node: ValueNode): boolean {
  if (isUnpacked(node)) return true;
  const first = node.kind === "call" && node.indexes.length === 0 ? node.arguments[0] : undefined;
  return first !== undefined && (first.kind === "field" || first.kind === "call") && isUnpacked(first);
}

function valueOf(node: ValueNode, context: Context): Found {
  let value: Found = node.kind === "field" ? fieldNamed(node.name)?.read(context.request, context.response) : called(node, context);
  for (const index of node.indexes) {
    if (value === undefined) return undefined;
    if (index.kind === "each") value = new Items(value instanceof Items ? value.values.flatMap(unpack) : unpack(value));
    else {
      const key = index.kind === "key" ? index.key : index.place;
      value = value instanceof Items ? new Items(value.values.flatMap((item) => itemOf(item, key) ?? [])) : itemOf(value, key);
    }
  }
  return value;
}

/** Addresses are compared as written. */
function related(a: Value, relation: Relation, b: Value): boolean {
  if (relation === "eq") return a === b;
  if (relation === "ne") return a !== b;
  if (relation === "lt") return a < b;
  if (relation === "le") return a <= b;
  return relation === "gt" ? a > b : a >= b;
}

const unpack = (value: Value): readonly Value[] => (Array.isArray(value) ? value : (value as ValueMap).values());

const itemOf = (value: Value, key: string | number): Value | undefined =>
  typeof key === "number" ? (value as readonly Value[])[key] : (value as ValueMap).get(key);

function called(node: ValueNode & { readonly kind: "call" }, context: Context): Value | undefined {
  const known = functionNamed(node.name);
  if (known === undefined) throw new TypeError(`no function ${node.name}`);
  const [first, ...others] = node.arguments.map((argument) => argumentOf(argument, context));
  const literals = node.arguments.map((argument) => (isLiteral(argument) ? literalOf(argument) : undefined));
  const problem = (_argument: number, message: string): never => {
    throw new TypeError(message);
  };
  const body = known.make(literals, problem, Array.isArray(first) ? arrayOf(STRING) : STRING, createRegexTable());
  const apply = (value: Value | undefined): Value | undefined => {
    const values = [value, ...(others as readonly (Value | undefined)[])];
    return known.takesMissing !== true && values.includes(undefined) ? undefined : body(...values);
  };
  return first instanceof Items ? first.values.flatMap((item) => apply(item) ?? []) : apply(first);
}

const isLiteral = (argument: ArgumentNode): argument is LiteralNode =>
  argument.kind === "string" || argument.kind === "integer" || argument.kind === "word" || argument.kind === "range";

function argumentOf(argument: ArgumentNode, context: Context): Found {
  if (argument.kind === "field" || argument.kind === "call") return valueOf(argument, context);
  if (isLiteral(argument)) return literalOf(argument);
  return evaluate(argument, context);
}

function literalOf(literal: LiteralNode): Value {
  if (literal.kind === "string") return literal.value;
  if (literal.kind === "integer") return Number.isSafeInteger(Number(literal.value)) ? Number(literal.value) : literal.value;
  if (literal.kind === "word") return literal.text;
  throw new TypeError("a range");
}

function compare(value: Value, operator: Operator, right: readonly LiteralNode[]): boolean {
  if (operator === "in") return right.some((literal) => isWithin(value, literal));
  const [literal] = right;
  if (literal === undefined) throw new TypeError("nothing on the right");
  if (literal.kind === "word") return isWithin(value, literal) === (operator === "eq");
  const bound = literalOf(literal);
  if (operator === "bitwise_and") return (BigInt(value as number) & BigInt(bound as number)) !== 0n;
  if (operator === "contains") return (value as string).includes(bound as string);
  if (operator === "matches") return RE2JS.compile(bound as string).test(value as string);
  if (operator === "wildcard" || operator === "strict wildcard") return fits(value as string, bound as string, operator !== "wildcard");
  return RELATIONS[operator](value < bound ? -1 : value > bound ? 1 : 0);
}

const RELATIONS: Readonly<Record<"eq" | "ne" | "lt" | "le" | "gt" | "ge", (order: number) => boolean>> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

function isWithin(value: Value, literal: LiteralNode): boolean {
  if (literal.kind === "range" && literal.first.kind === "integer" && literal.last.kind === "integer")
    return BigInt(value as number) >= literal.first.value && BigInt(value as number) <= literal.last.value;
  if (literal.kind === "range" && literal.first.kind === "word" && literal.last.kind === "word")
    return compareIp(ip(value), ip(literal.first.text)) >= 0 && compareIp(ip(value), ip(literal.last.text)) <= 0;
  if (literal.kind !== "word") return value === literalOf(literal);
  const block = parseCidr(literal.text);
  if (block === undefined) throw new TypeError(literal.text);
  return cidrContains(block, ip(value));
}

function ip(value: Value): IpAddress {
  const address = parseIp(value as string);
  if (address === undefined) throw new TypeError("no address");
  return address;
}

/** Letter by letter, over all ways. */
function fits(text: string, pattern: string, strict: boolean): boolean {
  const source = pattern.replace(/\\[\\*]|[^A-Za-z0-9*]|\*/g, (part) =>
    part === "*" ? "[^]*" : `\\x${(part.at(-1) ?? "").charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return new RegExp(`^${source}$`, strict ? "" : "i").test(text);
}
