import type { Detector } from "#rules/detectors/engine/detector.ts";
import { valueBehind } from "#rules/detectors/engine/value-range.ts";
import { looksRandom } from "#rules/detectors/checks/secret-checks.ts";

/** A secret that begins with an identifying text, as most services make theirs. */
export interface SecretRow {
  readonly id: string;
  readonly rule_id: string;
  readonly name: string;
  /** The exact beginnings. */
  readonly starts: readonly string[];
  /** The rest, as a regular expression; it must end where the secret ends. */
  readonly rest: string;
  readonly accepts?: (text: string) => boolean;
  readonly context?: readonly string[];
  /** A character of `rest` for common starts (detector.ts). */
  readonly needs?: string;
  /** Whether letters, digits and underscores may be directly before it. */
  readonly amidWord?: boolean;
  /** Whether the start is a name and not a part of the secret. */
  readonly startsWithName?: boolean;
  readonly confidence?: Detector["confidence"];
  readonly enabled?: boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

export const secretDetectors = (tags: readonly string[], rows: readonly SecretRow[]): readonly Detector[] =>
  rows.map(
    ({
      starts,
      rest,
      needs,
      accepts = looksRandom,
      amidWord = false,
      startsWithName = false,
      confidence = "high",
      enabled = true,
      ...row
    }) => ({
      ...row,
      category: "secrets",
      tags,
      anchors: starts.map((text) => ({ kind: "literal", text, word: !amidWord, ...(needs === undefined ? {} : { needs }) })),
      patterns: [new RegExp(`(?:${starts.map(escaped).join("|")})${NO_FILE}(?:${rest})`, "y")],
      accepts,
      ...(startsWithName ? { valueIn: valueBehind(new RegExp(`^(?:${starts.map(escaped).join("|")})`)) } : {}),
      confidence,
      enabled,
    }),
  );

/** Excludes the hash in the name of a file, as build tools put it: `ico-<hash>.svg`, `key-<hash>@2x.min.png`. */
const FILE_TYPES =
  "avif|bmp|css|csv|docx?|eot|gif|gz|html?|ico|jpe?g|jsx?|json|map|mjs|mp[34]|otf|pdf|png|svgz?|tsx?|ttf|txt|webm|webp|webmanifest|woff2?|xml|zip";
const NO_FILE = `(?![0-9a-fA-F]{8,128}(?:@[0-9]x)?(?:\\.[a-z0-9]{1,8}){0,2}\\.(?:${FILE_TYPES})(?![A-Za-z0-9]))`;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** No character of the secret's own alphabet follows. */
export const END = String.raw`(?![A-Za-z0-9_\-])`;
/** The same, but a dash may follow. */
export const END_WORD = String.raw`(?![A-Za-z0-9_])`;
