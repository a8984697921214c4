import { charge, ITEM_STEPS } from "#rules/budget.ts";
import type { Predicate, RequestView, ResponseView } from "#rules/views.ts";
import { comparisonOf, compileTest } from "./compile-test.ts";
import type { FunctionBody } from "#rules/expression/functions/language-function.ts";
import { MADE_BYTES_MAX } from "#rules/text/text-functions.ts";
import type { TypedNode, TypedValue } from "#rules/expression/check/typed-ast.ts";
import type { Value, ValueMap } from "#rules/expression/values/value-type.ts";

/** Undefined if the value is missing. Never throws, never waits. */
export type Reader = (request: RequestView, response: ResponseView | null) => Value | undefined;

type ItemsReader = (request: RequestView, response: ResponseView | null) => readonly Value[] | undefined;
type AnswersReader = (request: RequestView, response: ResponseView | null) => readonly boolean[];

/** One closure for a checked filter. The depth of calls is the expression's nesting, which the parser bounds. */
export function compileNode(node: TypedNode): Predicate {
  if (node.kind === "constant") return node.value ? always : never;
  if (node.kind === "truth") return compileTruth(compileValue(node.value));
  if (node.kind === "test") return compileTested(node);
  if (node.kind === "compared") return compileCompared(node);
  if (node.kind === "not") {
    const operand = compileNode(node.operand);
    return (request, response) => !operand(request, response);
  }
  const operands = node.operands.map(compileNode);
  if (node.kind === "xor") return (request, response) => operands.reduce((odd, operand) => odd !== operand(request, response), false);
  return compileDecisive(operands, node.kind === "or");
}

const always: Predicate = () => true;
const never: Predicate = () => false;

const compileTruth =
  (read: Reader): Predicate =>
  (request, response) =>
    read(request, response) === true;

/** The most frequent test has a separate closure. A missing value passes no test, not even `ne` (waf.md). */
function compileTested({ value, test }: TypedNode & { readonly kind: "test" }): Predicate {
  const read = compileValue(value);
  if (test.kind === "string" && test.relation === "eq") {
    const { bound } = test;
    return (request, response) => read(request, response) === bound;
  }
  const passes = compileTest(test);
  return (request, response) => {
    const given = read(request, response);
    return given !== undefined && passes(given);
  };
}

/** False if a value is missing on either side. */
function compileCompared({ value, relation, other }: Compared): Predicate {
  const [left, right] = [compileValue(value), compileValue(other)];
  const passes = comparisonOf(relation, value.type);
  return (request, response) => {
    const a = left(request, response);
    if (a === undefined) return false;
    const b = right(request, response);
    return b !== undefined && passes(a, b);
  };
}

type Compared = TypedNode & { readonly kind: "compared" };

/** `decisive` is the result that ends the evaluation early: true for or, false for and. */
function compileDecisive(operands: readonly Predicate[], decisive: boolean): Predicate {
  const [first, second] = operands;
  if (operands.length === 2 && first !== undefined && second !== undefined) {
    return decisive
      ? (request, response) => first(request, response) || second(request, response)
      : (request, response) => first(request, response) && second(request, response);
  }
  return (request, response) => {
    for (const operand of operands) if (operand(request, response) === decisive) return decisive;
    return !decisive;
  };
}

/** One closure for a checked value; for an unpacked one it returns the array of items. */
export function compileValue(value: TypedValue): Reader {
  if (value.unpacked) return compileItems(value);
  if (value.kind === "field") return value.field.read;
  if (value.kind === "literal") {
    const constant = value.value;
    return () => constant;
  }
  if (value.kind === "answer") return value.node.many ? compileAnswers(value.node) : compileNode(value.node);
  if (value.kind === "index") return compileIndex(value);
  return value.kind === "call" ? compileCall(value) : compileItems(value);
}

function compileIndex({ of, key }: TypedValue & { readonly kind: "index" }): Reader {
  if (of.kind === "field" && of.field.readKey !== undefined && typeof key === "string") {
    const readKey = of.field.readKey;
    return (request, response) => readKey(request, response, key);
  }
  const read = compileValue(of);
  return (request, response) => {
    const whole = read(request, response);
    return whole === undefined ? undefined : itemOf(whole, key);
  };
}

/** The checker has checked that numbers index arrays and names index maps. */
function itemOf(whole: Value, key: string | number): Value | undefined {
  return typeof key === "number" ? (whole as readonly Value[])[key] : (whole as ValueMap).get(key);
}

const itemsOf = (whole: Value): readonly Value[] => (Array.isArray(whole) ? whole : (whole as ValueMap).values());

function compileItems(value: TypedValue): ItemsReader {
  if (value.kind !== "each" && value.kind !== "index") return () => undefined;
  const read = compileValue(value.of);
  if (value.kind === "index") {
    const { key } = value;
    return (request, response) => {
      const items = read(request, response) as readonly Value[] | undefined;
      charge((items?.length ?? 0) * ITEM_STEPS);
      return items?.map((item) => itemOf(item, key)).filter((item) => item !== undefined);
    };
  }
  const nested = value.of.unpacked;
  return (request, response) => {
    const whole = read(request, response);
    if (whole === undefined) return undefined;
    const items = nested ? (whole as readonly Value[]).flatMap(itemsOf) : itemsOf(whole);
    charge(items.length * ITEM_STEPS);
    return items;
  };
}

function compileCall({ called, body: uncharged, arguments: given, mapped }: TypedValue & { readonly kind: "call" }): Reader {
  const body = charging(called.stepsPerByte, uncharged);
  const readers = given.map(compileValue);
  const [first = nothing, second = nothing] = readers;
  if (mapped) return compileMapped(first, readers.slice(1), body);
  // Omitted optional arguments are undefined anyway; only given ones can be missing.
  if (called.takesMissing === true) return (request, response) => bounded(body(...readers.map((read) => read(request, response))));
  if (readers.length === 1) {
    return (request, response) => {
      const value = first(request, response);
      return value === undefined ? undefined : bounded(body(value));
    };
  }
  if (readers.length === 2) {
    return (request, response) => {
      const a = first(request, response);
      const b = second(request, response);
      return a === undefined || b === undefined ? undefined : bounded(body(a, b));
    };
  }
  return (request, response) => {
    const values = readers.map((read) => read(request, response));
    return values.includes(undefined) ? undefined : bounded(body(...values));
  };
}

/** Cost of a call beside its arguments, in bytes of text. */
const CALL_BYTES = 100;

/** The body of a function, charged by the length of its arguments. */
function charging(stepsPerByte: number, body: FunctionBody): FunctionBody {
  if (stepsPerByte === 0) return body;
  return (...values) => {
    let size = CALL_BYTES;
    for (const value of values) size += sizeOf(value);
    charge(size * stepsPerByte);
    const made = body(...values);
    charge(sizeOf(made));
    return made;
  };
}

const sizeOf = (value: Value | undefined): number =>
  typeof value === "string" ? value.length : Array.isArray(value) ? value.length * ITEM_STEPS : 0;

const nothing: Reader = () => undefined;

const bounded = (value: Value | undefined): Value | undefined =>
  typeof value === "string" && value.length > MADE_BYTES_MAX ? undefined : value;

/** The body's results for each item; items without a result are omitted. */
function compileMapped(
  readItems: Reader,
  readOthers: readonly Reader[],
  body: (...values: readonly (Value | undefined)[]) => Value | undefined,
): Reader {
  return (request, response) => {
    const items = readItems(request, response) as readonly Value[] | undefined;
    if (items === undefined) return undefined;
    const others = readOthers.map((read) => read(request, response));
    if (others.includes(undefined)) return undefined;
    charge(items.length * ITEM_STEPS);
    return items.map((item) => bounded(body(item, ...others))).filter((value) => value !== undefined);
  };
}

/** One result for each item; empty if the array is missing. */
function compileAnswers(node: TypedNode): AnswersReader {
  if (node.kind === "constant") return () => [];
  if (node.kind === "not") {
    const operand = compileAnswers(node.operand);
    return (request, response) => operand(request, response).map((answer) => !answer);
  }
  if (node.kind === "truth" || node.kind === "test") {
    const read = compileValue(node.value) as ItemsReader;
    const passes = node.kind === "test" ? compileTest(node.test) : (item: Value) => item === true;
    return (request, response) => {
      const items = read(request, response);
      if (items === undefined) return [];
      charge(items.length * ITEM_STEPS);
      return items.map(passes);
    };
  }
  if (node.kind === "compared") return compileComparedAnswers(node);
  const operands = node.operands.map(compileAnswers);
  const join = JOINS[node.kind];
  return (request, response) => {
    const rows = operands.map((operand) => operand(request, response));
    const length = Math.min(...rows.map((row) => row.length));
    charge(length * rows.length * ITEM_STEPS);
    return Array.from({ length }, (_, i) => rows.map((row) => row[i] ?? false).reduce(join));
  };
}

function compileComparedAnswers({ value, relation, other }: Compared): AnswersReader {
  const read = compileValue(value) as ItemsReader;
  const readOther = compileValue(other);
  const passes = comparisonOf(relation, value.type);
  return (request, response) => {
    const items = read(request, response);
    if (items === undefined) return [];
    const b = readOther(request, response);
    charge(items.length * ITEM_STEPS);
    return items.map((a) => b !== undefined && passes(a, b));
  };
}

const JOINS: Readonly<Record<"and" | "or" | "xor", (a: boolean, b: boolean) => boolean>> = {
  and: (a, b) => a && b,
  or: (a, b) => a || b,
  xor: (a, b) => a !== b,
};
