import { simplifyTest } from "#rules/regex/regex-linear.ts";
import { requiredParts } from "#rules/regex/regex-parts.ts";
import { parseRegex } from "#rules/regex/regex-syntax.ts";
import { type AttackCategory, INPUT, PATH, type Signature } from "./signature.ts";

/** What a row says beside its pattern; what it leaves out is as below. */
export interface SignatureRow {
  readonly slug: string;
  readonly title: string;
  readonly pattern: string;
  /** By default what the pattern itself shows. */
  readonly needs?: readonly string[];
  /** By default what visitors can put values into, and the path. */
  readonly targets?: number;
  readonly reading?: Signature["reading"];
  readonly paranoia?: Signature["paranoia"];
  /** By default 5, less by one for each level of paranoia. */
  readonly score?: number;
  /** By default those of the first level are. */
  readonly isCertain?: boolean;
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
    return {
      category,
      targets: INPUT | PATH,
      reading,
      score: 6 - paranoia,
      isCertain: paranoia === 1,
      ...row,
      paranoia,
      needs: row.needs ?? shownBy(row),
    };
  });

function shownBy({ slug, pattern }: SignatureRow): readonly string[] {
  const parts = requiredParts(simplifyTest(parseRegex(pattern)));
  if (parts === null || parts.folded) throw new Error(`the pattern of ${slug} shows no literal that every match has in it`);
  return parts.texts;
}
