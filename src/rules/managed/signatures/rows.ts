import { simplifyTest } from "#rules/regex/regex-linear.ts";
import { requiredParts } from "#rules/regex/regex-parts.ts";
import { parseRegex } from "#rules/regex/regex-syntax.ts";
import { ANYWHERE } from "./values/places.ts";
import type { AttackCategory, Certainty, Signature, Test } from "./signature.ts";

/** A signature without defaults, which are below. */
export interface SignatureRow {
  readonly slug: string;
  readonly title: string;
  /** One of the two. */
  readonly pattern?: string;
  /** Its pattern did not ship with the program. */
  readonly isForeign?: boolean;
  readonly detect?: (text: string) => boolean;
  readonly unless?: Signature["unless"];
  readonly beginsValue?: boolean;
  /** By default the text of the pattern itself. */
  readonly needs?: readonly string[];
  /** By default everything but files. */
  readonly targets?: number;
  readonly reading?: Signature["reading"];
  readonly paranoia?: Signature["paranoia"];
  /** Score of each value that it hits. Defaults to that of its certainty. */
  readonly score?: number;
  /** By default those of the first level are certain, those of the second likely. */
  readonly certainty?: Certainty;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

/** Rows of one category, completed. */
export const signaturesOf = (
  category: AttackCategory,
  rows: readonly SignatureRow[],
  reading: Signature["reading"] = "plain",
): readonly Signature[] =>
  rows.map((row) => {
    const paranoia = row.paranoia ?? 1;
    const certainty = row.certainty ?? LEVELS[paranoia - 1]!;
    return {
      category,
      targets: ANYWHERE,
      reading,
      score: SCORES[certainty],
      ...row,
      looksFor: testOf(row),
      certainty,
      paranoia,
      needs: row.needs ?? shownBy(row),
    };
  });

/** The Core Rule Set's scores of critical matches, errors and warnings. */
const SCORES: Readonly<Record<Certainty, number>> = { certain: 5, likely: 4, possible: 3 };
const LEVELS: readonly Certainty[] = ["certain", "likely", "possible", "possible"];

function testOf({ slug, pattern, isForeign, detect }: SignatureRow): Test {
  if (pattern !== undefined) return isForeign === true ? { pattern, isForeign } : { pattern };
  if (detect !== undefined) return { detect };
  throw new Error(`${slug} looks for nothing`);
}

function shownBy({ slug, pattern }: SignatureRow): readonly string[] {
  const parts = pattern === undefined ? null : requiredParts(simplifyTest(parseRegex(pattern)));
  if (parts === null || parts.folded) throw new Error(`${slug} shows no literal that every match has in it`);
  return parts.texts;
}
