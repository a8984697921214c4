import type { AddressRange } from "#rules/expression/values/address-set.ts";
import type { Relation } from "#rules/expression/syntax/ast.ts";
import type { Field } from "#rules/expression/fields/field.ts";
import type { FunctionBody, LanguageFunction } from "#rules/expression/functions/language-function.ts";
import type { NamedList } from "#rules/expression/values/lists.ts";
import type { RegexTest } from "#rules/regex/regex.ts";
import type { Value, ValueType } from "#rules/expression/values/value-type.ts";

/** A checked expression, whose evaluation cannot fail. With `many` it has one result for each item of an array. */
export type TypedNode =
  | { readonly kind: "constant"; readonly many: false; readonly value: boolean }
  | { readonly kind: "not"; readonly many: boolean; readonly operand: TypedNode }
  | { readonly kind: "and" | "xor" | "or"; readonly many: boolean; readonly operands: readonly TypedNode[] }
  | { readonly kind: "test"; readonly many: boolean; readonly value: TypedValue; readonly test: TypedTest }
  | {
      readonly kind: "compared";
      readonly many: boolean;
      readonly value: TypedValue;
      readonly relation: Relation;
      /** Of the same type, and never unpacked. */
      readonly other: TypedValue;
    }
  | { readonly kind: "truth"; readonly many: boolean; readonly value: TypedValue };

export type TypedValue = {
  /** Type of one item if the value is unpacked. */
  readonly type: ValueType;
  /** Whether it was unpacked by `[*]`, and so stands for every item of an array. */
  readonly unpacked: boolean;
  /** Canonical text. Values with the same text are equal within a phase. */
  readonly text: string;
  /** Text of the array that is, or was, unpacked. */
  readonly base: string;
} & (
  | { readonly kind: "field"; readonly field: Field }
  | { readonly kind: "index"; readonly of: TypedValue; readonly key: string | number }
  | { readonly kind: "each"; readonly of: TypedValue }
  | {
      readonly kind: "call";
      readonly called: LanguageFunction;
      readonly body: FunctionBody;
      readonly arguments: readonly TypedValue[];
      /** Whether the first argument is unpacked, so that the call is made for each of its items. */
      readonly mapped: boolean;
    }
  | { readonly kind: "literal"; readonly value: Value }
  | { readonly kind: "answer"; readonly node: TypedNode }
);

export type TypedTest =
  | { readonly kind: "string"; readonly relation: Relation; readonly bound: string }
  | { readonly kind: "integer"; readonly relation: Relation; readonly bound: bigint }
  | { readonly kind: "contains"; readonly part: string }
  | { readonly kind: "matches"; readonly regex: RegexTest; readonly pattern: string }
  | { readonly kind: "wildcard"; readonly pattern: string; readonly strict: boolean }
  | { readonly kind: "bits"; readonly mask: bigint }
  | { readonly kind: "strings"; readonly items: readonly string[] }
  | { readonly kind: "integers"; readonly items: readonly IntegerRange[] }
  | { readonly kind: "addresses"; readonly items: readonly AddressRange[]; readonly negated: boolean }
  | { readonly kind: "list"; readonly list: NamedList };

export interface IntegerRange {
  readonly first: bigint;
  readonly last: bigint;
}
