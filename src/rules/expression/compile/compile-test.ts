import { charge } from "#rules/budget.ts";
import { addressBytes, createAddressSet } from "#rules/expression/values/address-set.ts";
import type { RegexTest } from "#rules/regex/regex.ts";
import { rememberedLower } from "#rules/text/text-functions.ts";
import { indexOfPart } from "#rules/text/text-search.ts";
import type { IntegerRange, TypedTest } from "#rules/expression/check/typed-ast.ts";
import type { Relation } from "#rules/expression/syntax/ast.ts";
import type { Value, ValueType } from "#rules/expression/values/value-type.ts";
import { wildcardTest } from "#rules/regex/wildcard.ts";

type Test = (value: Value) => boolean;
type Integer = number | bigint;

/** Steps of a list look-up, beside one step per byte. */
const LISTED_STEPS = 200;

/** Compiles the test of a present value; the checker has checked its type. */
export function compileTest(test: TypedTest): Test {
  if (test.kind === "string") return relationTest(test.relation, test.bound);
  if (test.kind === "integer") return relationTest(test.relation, narrow(test.bound));
  if (test.kind === "contains") {
    const { part } = test;
    return (value) => indexOfPart(value as string, part) !== -1;
  }
  if (test.kind === "matches") {
    return matchesTest(test.regex) as Test;
  }
  if (test.kind === "wildcard") return wildcardTest(test.pattern, test.strict) as Test;
  if (test.kind === "strings") {
    const set = new Set(test.items);
    return (value) => set.has(value as string);
  }
  if (test.kind === "bits") return bitsTest(test.mask);
  if (test.kind === "integers") return integersTest(test.items);
  if (test.kind === "list") {
    const { list } = test;
    return (value) => {
      if (typeof value === "string") charge(LISTED_STEPS + value.length);
      return list.has(value);
    };
  }
  const set = createAddressSet(test.items);
  return test.negated ? (value) => !set.has(value as string) : (value) => set.has(value as string);
}

/** The comparison of two present values; the checker has checked that they have this type. */
export function comparisonOf(relation: Relation, { kind }: ValueType): (a: Value, b: Value) => boolean {
  if (kind === "ip") return relation === "eq" ? isSameAddress : (a, b) => !isSameAddress(a, b);
  return COMPARISONS[relation];
}

/** Integers beyond 2^53 are bigints and all others numbers, so that equal ones have the same type. */
const COMPARISONS: Readonly<Record<Relation, (a: Value, b: Value) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};

/** An address may be written in several ways. */
const isSameAddress = (a: Value, b: Value): boolean => {
  if (a === b) return true;
  const bytes = addressBytes(a as string);
  return bytes !== undefined && bytes === addressBytes(b as string);
};

/** From this length on, a search for required parts pays off. */
const SEARCHED_BYTES_MIN = 1024;

/** A text without the parts that every match contains is not given to an engine. */
function matchesTest({ test, required }: RegexTest): (text: string) => boolean {
  return (text) => {
    if (text.length >= SEARCHED_BYTES_MIN && required !== null) {
      const searched = required.folded ? rememberedLower(text) : text;
      if (!required.texts.some((part) => indexOfPart(searched, part) !== -1)) return false;
    }
    return test(text);
  };
}

/** Numbers if they are exact, because bigints are slow. */
const narrow = (value: bigint): Integer => (Number.isSafeInteger(Number(value)) ? Number(value) : value);

/** One closure per relation, so that nothing is decided at run time. Values and bounds beyond 2^53 are bigints. */
function relationTest<T extends string | Integer>(relation: Relation, bound: T): Test {
  const compared = (test: (value: T) => boolean): Test => test as Test;
  if (relation === "eq") return compared((value) => value === bound);
  if (relation === "ne") return compared((value) => value !== bound);
  if (relation === "lt") return compared((value) => value < bound);
  if (relation === "le") return compared((value) => value <= bound);
  if (relation === "gt") return compared((value) => value > bound);
  return compared((value) => value >= bound);
}

function bitsTest(mask: bigint): Test {
  const small = Number(mask);
  const exact: Test = (value) => (BigInt(value as Integer) & mask) !== 0n;
  if (small < 0 || small > INT32_MAX) return exact;
  return (value) => (typeof value === "number" && Math.abs(value) <= INT32_MAX ? (value & small) !== 0 : exact(value));
}

/** Up to here the language's own operators are exact. */
const INT32_MAX = 0x7fff_ffff;

// Below this a walk is faster than a search.
const WALKED_MAX = 8;

function integersTest(items: readonly IntegerRange[]): Test {
  const ranges = items
    .map(({ first, last }) => ({ first: narrow(first), last: narrow(last) }))
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  if (ranges.every(({ first, last }) => first === last)) {
    const set = new Set<Value>(ranges.map(({ first }) => first));
    return (value) => set.has(value);
  }
  if (ranges.length <= WALKED_MAX)
    return (value) => ranges.some((range) => range.first <= (value as Integer) && (value as Integer) <= range.last);
  const merged = mergeRanges(ranges);
  return (value) => {
    let from = 0;
    let to = merged.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const range = merged[middle];
      if (range !== undefined && range.first <= (value as Integer)) from = middle + 1;
      else to = middle;
    }
    const found = merged[from - 1];
    return found !== undefined && (value as Integer) <= found.last;
  };
}

interface Range {
  readonly first: Integer;
  readonly last: Integer;
}

function mergeRanges(sorted: readonly Range[]): readonly Range[] {
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last === undefined || range.first > last.last) merged.push(range);
    else if (range.last > last.last) merged[merged.length - 1] = { first: last.first, last: range.last };
  }
  return merged;
}
