import type { ValuePlace } from "./value-place.ts";

/** A position at which a detector begins to look. Every detector has an anchor, so that a scan stays linear. */
export type Anchor =
  /**
   * A number or code in one of these forms (chains.ts), not part of a longer word. The detector then has no patterns.
   * `stuck`: also directly after a name such as `VISA` (scan.ts).
   */
  | { readonly kind: "chain"; readonly templates: readonly string[]; readonly stuck?: true }
  /** A digit after a plus; the match begins with the plus. */
  | { readonly kind: "plus" }
  /** A long word of letters and digits that begins with 1, 2 or 3. */
  | { readonly kind: "base58" }
  /** The first digit of a number that is not part of a longer word. */
  | { readonly kind: "number" }
  /** The name before an at sign. */
  | { readonly kind: "at_sign" }
  /** The group of hexadecimal digits before a colon, or the colon itself without one. */
  | { readonly kind: "colon" }
  /** One of these countries' two letters, and two digits, at the start of a word, as in an IBAN. */
  | { readonly kind: "country_check"; readonly countries: readonly string[] }
  /**
   * This exact text; with `word` only at the start of a word. The character `needs` must follow before any white space,
   * quote, slash or angle bracket: a cheap check that saves the patterns most positions of a common text. With
   * `behindName` the match begins with the name before the text, as with an at sign.
   */
  | { readonly kind: "literal"; readonly text: string; readonly word: boolean; readonly needs?: string; readonly behindName?: true };

/** The members of a sticky regular expression that detectors use. */
export interface Pattern {
  lastIndex: number;
  exec(window: string): readonly string[] | null;
}

/** A range of characters in a text; the end is exclusive. */
export type ValueRange = readonly [from: number, to: number];

export type Category = "pii" | "financial" | "secrets" | "custom";

/** One kind of sensitive data. Ids never change: stored overrides and events name them. */
export interface Detector {
  readonly id: string;
  /** The rule of the managed ruleset: 32 hexadecimal characters. */
  readonly rule_id: string;
  readonly name: string;
  readonly category: Category;
  readonly anchors: readonly Anchor[];
  /**
   * Patterns for detectors that an anchor alone does not decide, tried in order. Sticky, without lookbehind, bounded: a
   * pattern sees WINDOW_BYTES (scan.ts), one char per byte. A secret whose match ends with them goes on (long-values.ts).
   */
  readonly patterns: readonly Pattern[];
  /** Decides whether a match counts; these checks make a detector precise. */
  readonly accepts: (text: string) => boolean;
  /**
   * Range of the value in a match that includes a name or a heading: the hit is the value alone, so that its position and
   * its `value_hash` do not depend on the name. Absent: the whole match.
   */
  readonly valueIn?: (text: string) => ValueRange;
  /** If present, one of these words must be shortly before the match, or label it in markup (context.ts). */
  readonly context?: readonly string[];
  /**
   * For numbers with `context`: text directly after the number that replaces a word before it; tried on BEHIND_BYTES
   * (scan.ts).
   */
  readonly namedBehind?: RegExp;
  /** Only values in such a position count, or only values in others (value-place.ts). */
  readonly place?: ValuePlace;
  /** Tags beside the category, which overrides may name. */
  readonly tags?: readonly string[];
  /** For customers' patterns: the number of tries (CUSTOM_TRIES_MAX) that one try counts as. */
  readonly tries?: number;
  readonly confidence: "low" | "medium" | "high";
  /** Near one of these words a hit has high confidence, whatever `confidence` says; without them it still counts. */
  readonly sureBeside?: readonly string[];
  /** Hits of this form have high confidence without such a word. */
  readonly sureForm?: (text: string) => boolean;
  /** Whether it runs without an override (SPEC 8). */
  readonly enabled: boolean;
  /**
   * Accepts hits that cannot be a product number, date or hash: they are masked in every zone's rows, whatever the zone
   * has chosen (ADR 0074). Absent: all hits of secrets that are on, have high confidence and no `context`; otherwise
   * none.
   */
  readonly undoubted?: (text: string) => boolean;
  /** Texts with a hit, and texts without one. */
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}
