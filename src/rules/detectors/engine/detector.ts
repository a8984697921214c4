import type { ValuePlace } from "./place.ts";

/** Where a detector may begin to look. Every detector has an anchor, so that a scan stays linear. */
export type Anchor =
  /** A number or code of one of these forms (chains.ts) that stands by itself. The detector has no patterns then. `stuck`: also right behind a name such as `VISA` (scan.ts). */
  | { readonly kind: "chain"; readonly templates: readonly string[]; readonly stuck?: true }
  /** A digit before which a plus stands; the match begins with the plus. */
  | { readonly kind: "plus" }
  /** A word of letters and digits that begins with 1, 2 or 3, and is long. */
  | { readonly kind: "base58" }
  /** The first digit of a number that stands by itself. */
  | { readonly kind: "number" }
  /** The name before an at sign. */
  | { readonly kind: "at_sign" }
  /** The group of hexadecimal digits before a colon, or the colon itself where none stands before it. */
  | { readonly kind: "colon" }
  /** Two letters and two digits at the start of a word, as an IBAN begins. */
  | { readonly kind: "country_check" }
  /**
   * This text, exactly; at the start of a word where `word` says so. The character that it `needs` has to follow before any
   * white space, quote, slash or angle bracket: a cheap look that spares the patterns most places of a common text. With
   * `behindName` the match begins with the name before the text, as it does with an at sign.
   */
  | { readonly kind: "literal"; readonly text: string; readonly word: boolean; readonly needs?: string; readonly behindName?: true };

/** What detectors use of a sticky regular expression. */
export interface Pattern {
  lastIndex: number;
  exec(window: string): readonly string[] | null;
}

/** Characters of a text, the last one excluded. */
export type ValueRange = readonly [from: number, to: number];

export type Category = "pii" | "financial" | "secrets" | "custom";

/** One kind of sensitive data. Rows never change their ids: stored overrides and events name them. */
export interface Detector {
  readonly id: string;
  /** The rule of the managed ruleset: 32 hexadecimal characters. */
  readonly rule_id: string;
  readonly name: string;
  readonly category: Category;
  readonly anchors: readonly Anchor[];
  /** What an anchor alone does not decide, tried in order there. Sticky, without lookbehind, bounded: a pattern sees WINDOW_BYTES (scan.ts), one char a byte. */
  readonly patterns: readonly Pattern[];
  /** Decides on what a pattern found; the checks that make a detector precise. */
  readonly accepts: (text: string) => boolean;
  /**
   * Where in what was found the value stands, for those that take a name or a heading along: the hit is the value alone, so that it has
   * the value's place and the same `value_hash` whatever name stands before it. Absent: all of it.
   */
  readonly valueIn?: (text: string) => ValueRange;
  /** When present, one of these words must stand shortly before the match, or label it in markup (context.ts). */
  readonly context?: readonly string[];
  /** For numbers with `context`: what may stand right behind the number instead of a word before it; tried on BEHIND_BYTES (scan.ts). */
  readonly namedBehind?: RegExp;
  /** Of two detectors that share their patterns, each has the values in such a place, or the others (place.ts). */
  readonly place?: ValuePlace;
  /** Further tags than the category, which overrides may name. */
  readonly tags?: readonly string[];
  /** Of customers' patterns: how many tries (CUSTOM_TRIES_MAX) one of it counts for. */
  readonly tries?: number;
  readonly confidence: "low" | "medium" | "high";
  /** Beside one of these words a hit is of high confidence, whatever `confidence` says; without them it counts all the same. */
  readonly sureBeside?: readonly string[];
  /** Whether it runs without an override (SPEC 8). */
  readonly enabled: boolean;
  /**
   * Of what it finds, what no product number, date or hash looks like: that is masked in every zone's rows, whatever the zone has
   * chosen (ADR 0074). Absent: all of it for secrets that are on, of high confidence and without `context`; of others nothing.
   */
  readonly undoubted?: (text: string) => boolean;
  /** Texts that it must find, and texts that it must not find anything in. */
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}
