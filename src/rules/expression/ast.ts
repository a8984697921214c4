import type { Span } from "./expression-error.ts";

/** What the parser understood; names and types are not yet checked. */
export type Node =
  | (Span & { readonly kind: "constant"; readonly value: boolean })
  | (Span & { readonly kind: "not"; readonly operand: Node })
  | (Span & { readonly kind: Connective; readonly operands: readonly Node[] })
  | (Span & {
      readonly kind: "comparison";
      readonly left: Value;
      readonly operator: Operator;
      readonly operator_span: Span;
      readonly right: readonly Literal[];
    })
  /** A value that is true or false by itself. */
  | (Span & { readonly kind: "truth"; readonly value: Value });

export type Connective = "and" | "xor" | "or";

export type Operator = "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "contains" | "wildcard" | "strict wildcard" | "in";

export type Value =
  | (Span & { readonly kind: "field"; readonly name: string; readonly keys: readonly (string | number)[] })
  | (Span & { readonly kind: "call"; readonly name: string; readonly arguments: readonly (Value | Literal)[] });

export type Literal =
  | (Span & { readonly kind: "string"; readonly value: string })
  /** `last` differs from `first` in ranges, which stand in sets only. */
  | (Span & { readonly kind: "integer"; readonly first: number; readonly last: number })
  | (Span & { readonly kind: "address"; readonly text: string });
