import type { Detector } from "#rules/detectors/engine/detector.ts";
import { looksRandom } from "#rules/detectors/checks/secret-checks.ts";

/** A secret that begins with a text of its own, as most services make theirs. */
export interface SecretRow {
  readonly id: string;
  readonly rule_id: string;
  readonly name: string;
  /** What it begins with, exactly. */
  readonly starts: readonly string[];
  /** What follows, as a regular expression; it must end where the secret ends. */
  readonly rest: string;
  readonly accepts?: (text: string) => boolean;
  readonly context?: readonly string[];
  /** A character of `rest` for common starts (detector.ts). */
  readonly needs?: string;
  /** Whether letters, digits and underscores may stand right before it. */
  readonly amidWord?: boolean;
  readonly confidence?: Detector["confidence"];
  readonly enabled?: boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

export const secretDetectors = (tags: readonly string[], rows: readonly SecretRow[]): readonly Detector[] =>
  rows.map(({ starts, rest, needs, accepts = looksRandom, amidWord = false, confidence = "high", enabled = true, ...row }) => ({
    ...row,
    category: "secrets",
    tags,
    anchors: starts.map((text) => ({ kind: "literal", text, word: !amidWord, ...(needs === undefined ? {} : { needs }) })),
    patterns: [new RegExp(`(?:${starts.map(escaped).join("|")})(?:${rest})`, "y")],
    accepts,
    confidence,
    enabled,
  }));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** Nothing follows that the secret's own alphabet would take in. */
export const END = String.raw`(?![A-Za-z0-9_\-])`;
/** The same where a dash may follow. */
export const END_WORD = String.raw`(?![A-Za-z0-9_])`;
