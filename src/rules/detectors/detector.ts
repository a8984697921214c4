/** Where a detector may begin to look. Every detector has an anchor, so that a scan stays linear. */
export type Anchor =
  /** The first byte of a run of digits that no letter, digit or underscore precedes. */
  | { readonly kind: "digits" }
  /** Two letters and two digits at the start of a word, as an IBAN begins. */
  | { readonly kind: "country_check" }
  /** This text, exactly; at the start of a word where `word` says so. */
  | { readonly kind: "literal"; readonly text: string; readonly word: boolean };

export type Category = "pii" | "financial" | "secrets";

/** One kind of sensitive data. Rows never change their ids: stored overrides and events name them. */
export interface Detector {
  readonly id: string;
  /** The rule of the managed ruleset: 32 hexadecimal characters. */
  readonly rule_id: string;
  readonly name: string;
  readonly category: Category;
  readonly anchors: readonly Anchor[];
  /** Tried in order at the anchor. Sticky, without lookbehind, bounded: a pattern sees WINDOW_BYTES (scan.ts), one char a byte. */
  readonly patterns: readonly RegExp[];
  /** Decides on what a pattern found; the checks that make a detector precise. */
  readonly accepts: (text: string) => boolean;
  /** When present, one of these words (lower case) must stand within CONTEXT_BYTES before the match. */
  readonly context?: readonly string[];
  readonly confidence: "medium" | "high";
  /** Whether it runs without an override (SPEC 8). */
  readonly enabled: boolean;
  /** Texts that it must find, and texts that it must not find anything in. */
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}
