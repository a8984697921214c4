import type { Reading } from "./values/normalise.ts";

/**
 * Certainty of a hit: `certain` decides by itself, `likely` and `possible` add to a score. The paranoia level decides
 * which signatures are tested.
 */
export type Certainty = (typeof CERTAINTIES)[number];
export const CERTAINTIES = ["certain", "likely", "possible"] as const;

export type AttackCategory = (typeof ATTACK_CATEGORIES)[number];
export const ATTACK_CATEGORIES = [
  "sqli",
  "xss",
  "lfi",
  "rfi-ssrf",
  "rce",
  "template-injection",
  "php",
  "java",
  "nodejs",
  "nosql-ldap-xml",
  "scanner",
  "upload",
  "protocol",
] as const;

/**
 * A pattern in Rust's syntax, proven to take linear time, or a tokenizer that counts its own steps. `isForeign`: the
 * pattern did not ship with the program, so it runs and is counted like a customer's.
 */
export type Test = { readonly pattern: string; readonly isForeign?: boolean } | { readonly detect: (text: string) => boolean };

/** The pattern of one kind of attack. Its slug never changes: rule ids are made of it. */
export interface Signature {
  readonly slug: string;
  readonly title: string;
  readonly category: AttackCategory;
  readonly looksFor: Test;
  /** Whether it only matches the beginning of values: their first kilobyte is inspected. */
  readonly beginsValue?: boolean | undefined;
  /** Texts that never match. */
  readonly unless?: ((text: string) => boolean) | undefined;
  /** Every match contains one of them. */
  readonly needs: readonly string[];
  readonly targets: number;
  readonly reading: Reading;
  /** From which level of paranoia on it counts (1 to 4). */
  readonly paranoia: 1 | 2 | 3 | 4;
  /** How much it adds to a request's score. */
  readonly score: number;
  readonly certainty: Certainty;
  /** Values that it finds, and values that look alike and are harmless, before any encoding. */
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}
