import type { ByteSet } from "#rules/regex/byte-set.ts";

/** A pattern over bytes, in the constructs of PCRE that rules use. Cases are in the sets. */
export type PcreNode =
  | { readonly kind: "set"; readonly bytes: ByteSet }
  | { readonly kind: "sequence"; readonly items: readonly PcreNode[] }
  | { readonly kind: "choice"; readonly items: readonly PcreNode[] }
  /** `max` is null if the repetition is unbounded. */
  | { readonly kind: "repeat"; readonly item: PcreNode; readonly min: number; readonly max: number | null; readonly lazy: boolean }
  | { readonly kind: "capture"; readonly item: PcreNode; readonly number: number }
  | { readonly kind: "assert"; readonly what: PcreAssertion }
  /** Items without backtracking: atomic groups, and possessive repetitions. */
  | { readonly kind: "atomic"; readonly item: PcreNode }
  | { readonly kind: "look"; readonly item: PcreNode; readonly isBehind: boolean; readonly isNegative: boolean }
  /** The text that a group has captured. */
  | { readonly kind: "reference"; readonly number: number };

export type PcreAssertion = "start" | "end" | "line-start" | "line-end" | "word" | "not-word";

/** Whether anything in the pattern is of a kind. */
export function contains(node: PcreNode, wanted: (node: PcreNode) => boolean): boolean {
  return wanted(node) || childrenOf(node).some((child) => contains(child, wanted));
}

export function childrenOf(node: PcreNode): readonly PcreNode[] {
  if (node.kind === "sequence" || node.kind === "choice") return node.items;
  return node.kind === "set" || node.kind === "assert" || node.kind === "reference" ? [] : [node.item];
}

/** A mistake in a pattern; `at` is its offset in characters. */
export class PatternError extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.name = "PatternError";
    this.at = at;
  }
}
