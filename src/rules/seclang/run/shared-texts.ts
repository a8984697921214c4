import type { Scan } from "../prefilter/scanner.ts";
import type { CompiledLink } from "./compiled-rule.ts";
import type { FilteredRule } from "./phase-filter.ts";

/** Results for one distinct text. */
export interface KnownText {
  readonly scan: Scan;
  /** The result of each transformation on the text, by its number. */
  readonly transformed: (KnownText | undefined)[];
  /** By the number of a group of rules, those that may match it. */
  readonly picks: (readonly RulePick[] | undefined)[];
  /** Whether other transactions use these results too. */
  isShared: boolean;
  /** Links, always evaluated, that are known to have no hit in the text; null without any. */
  misses: Set<CompiledLink> | null;
}

/** A rule that may match a value, by what its transformations make of the value. */
export interface RulePick {
  readonly rule: FilteredRule;
  readonly text: string;
  /** Whether the operator is known not to match the text. */
  isMiss: boolean;
}

export const createKnown = (scan: Scan): KnownText => ({ scan, transformed: [], picks: [], isShared: false, misses: null });

/** Longer texts are not kept. */
export const SHARED_BYTES_MAX = 128;

/** Results for texts that many requests have: names of header fields and of arguments, and values of header fields that hold no secret. */
export class SharedTexts {
  #known = new Map<string, KnownText>();

  get(text: string): KnownText | undefined {
    return this.#known.get(text);
  }

  add(text: string, known: KnownText): void {
    if (text.length > SHARED_BYTES_MAX) return;
    if (this.#known.size >= SHARED_MAX) this.#known = new Map();
    known.isShared = true;
    this.#known.set(text, known);
  }
}

const SHARED_MAX = 2000;
