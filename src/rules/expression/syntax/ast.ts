import type { Span } from "./expression-error.ts";

/** The parsed expression; names and types are not yet checked. */
export type Node =
  | (Span & { readonly kind: "constant"; readonly value: boolean })
  | (Span & { readonly kind: "not"; readonly operand: Node })
  | (Span & { readonly kind: Connective; readonly operands: readonly Node[] })
  | (Span & {
      readonly kind: "comparison";
      readonly left: Value;
      readonly operator: Operator;
      readonly operator_span: Span;
      readonly right: readonly LiteralNode[];
    })
  /** `left eq right`, two values of the request. */
  | (Span & {
      readonly kind: "compared";
      readonly left: Value;
      readonly operator: Relation;
      readonly operator_span: Span;
      readonly right: Value;
    })
  /** `left in $name` */
  | (Span & {
      readonly kind: "listed";
      readonly left: Value;
      readonly operator_span: Span;
      readonly list: string;
      readonly list_span: Span;
    })
  /** A boolean value. */
  | (Span & { readonly kind: "truth"; readonly value: Value });

export type Connective = "and" | "xor" | "or";

export type Relation = "eq" | "ne" | "lt" | "le" | "gt" | "ge";

export type Operator = Relation | "contains" | "matches" | "wildcard" | "strict wildcard" | "bitwise_and" | "in";

export type Value = Span & { readonly indexes: readonly Index[] } & (
    | { readonly kind: "field"; readonly name: string }
    | { readonly kind: "call"; readonly name: string; readonly name_span: Span; readonly arguments: readonly ArgumentNode[] }
  );

export type ArgumentNode = Value | LiteralNode | Node;

/** `[0]`, `["key"]` or `[*]`. */
export type Index = Span &
  ({ readonly kind: "key"; readonly key: string } | { readonly kind: "place"; readonly place: number } | { readonly kind: "each" });

export type LiteralNode =
  /** One char per byte. */
  | (Span & { readonly kind: "string"; readonly value: string })
  | (Span & { readonly kind: "integer"; readonly value: bigint })
  /** An address, a block of addresses or bytes; the type of the other side decides (`AA:BB:CC:DD:EE:FF:00:11`). */
  | (Span & { readonly kind: "word"; readonly text: string })
  /** Only in sets. */
  | (Span & { readonly kind: "range"; readonly first: LiteralNode; readonly last: LiteralNode });
