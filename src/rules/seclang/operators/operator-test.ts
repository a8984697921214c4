import type { Macro } from "../syntax/macro.ts";
import type { Groups } from "../patterns/pattern.ts";
import type { ByteSet } from "#rules/regex/byte-set.ts";
import type { PcreNode } from "../patterns/pcre-node.ts";

/** Expands macros with values of the transaction. */
export type Expand = (macro: Macro) => string;

/** An operator, ready to test values. */
export interface OperatorTest {
  /** The groups of a match, the match itself first, or null. With `wantsGroups` false, the groups may have any content. */
  readonly test: (value: string, expand: Expand, wantsGroups: boolean) => Groups | null;
  /** Texts that a matching value must have, if they are known; null otherwise. */
  readonly needs: OperatorNeeds | null;
}

export type OperatorNeeds =
  | { readonly kind: "pattern"; readonly pattern: PcreNode }
  /** Containing one of these, without regard to case, is sufficient. */
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** A byte of this set. */
  | { readonly kind: "byte"; readonly bytes: ByteSet };

/** A match of the whole value. */
export const wholeValueMatch = (value: string, isMatch: boolean): Groups | null => (isMatch ? [value] : null);
