import type { Predicate } from "../types.ts";
import type { RequestView, ResponseView } from "../views.ts";

/** Undefined where the value is missing. Never throws. */
export type Reader<T> = (request: RequestView, response: ResponseView | null) => T | undefined;

/** A value whose names and types are checked, ready to be read. */
export type TypedValue =
  | { readonly type: "string"; readonly read: Reader<string> }
  | { readonly type: "integer"; readonly read: Reader<number> }
  | { readonly type: "boolean"; readonly read: Reader<boolean> }
  | { readonly type: "address"; readonly read: Reader<string> }
  | { readonly type: "strings"; readonly read: Reader<readonly string[]> };

export type Relation = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

/** A checked expression: nothing in it can fail any more. */
export type Typed =
  | { readonly kind: "constant"; readonly value: boolean }
  | { readonly kind: "not"; readonly operand: Typed }
  | { readonly kind: "and" | "xor" | "or"; readonly operands: readonly Typed[] }
  | { readonly kind: "test"; readonly applies: Predicate };
