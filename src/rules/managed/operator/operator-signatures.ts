import { requiredParts } from "#rules/regex/regex-parts.ts";
import { compileRegexTest, RegexError } from "#rules/regex/regex.ts";
import { simplifyTest } from "#rules/regex/regex-linear.ts";
import { parseRegex } from "#rules/regex/regex-syntax.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";
import { ANYWHERE, PLACES } from "../signatures/values/places.ts";
import { requiredGroups } from "../signatures/required-groups.ts";
import { signaturesOf } from "../signatures/rows.ts";
import type { Signature } from "../signatures/signature.ts";
import { normalise, READ } from "../signatures/values/normalise.ts";
import { createTextTest } from "../signatures/text-test.ts";
import { type OperatorRow, RowError } from "./operator-row.ts";

/** The operator's rows as signatures. */
export const signaturesOfOperator = (rows: readonly OperatorRow[]): readonly Signature[] => rows.map(signatureOf);

function signatureOf({
  slug,
  title,
  category,
  pattern,
  places,
  reading,
  paranoia,
  score,
  certainty,
  hits,
  misses,
}: OperatorRow): Signature {
  const row = {
    ...{ slug: `operator-${slug}`, title, pattern, isForeign: true, reading, paranoia, hits, misses },
    needs: literalsOf(pattern),
    targets: places.length === 0 ? ANYWHERE : places.reduce((bits, place) => bits | PLACES[place], 0),
    ...(score === null ? {} : { score }),
    ...(certainty === null ? {} : { certainty }),
  };
  return signaturesOf(category, [row])[0]!;
}

/** Limit of all rows together, because one automaton has the literals of all of them. */
const LITERAL_BYTES_MAX = 32_768;

/**
 * Checks the matches of rows. Throws RowError, with the slug of its row, for a pattern that is invalid, has no literal,
 * matches one of the row's misses or does not match one of its hits. Takes time linear in the texts, for any patterns.
 */
export function checkOperatorRows(rows: readonly OperatorRow[], at: (slug: string, error: RowError) => Error): void {
  let bytes = 0;
  for (const row of rows) {
    try {
      const signature = checked(row);
      bytes += [...signature.needs, ...requiredGroups(row.pattern).flat()].reduce((sum, literal) => sum + literal.length, 0);
      if (bytes > LITERAL_BYTES_MAX)
        throw new RowError(
          "pattern",
          `the literals of the rows up to this one are longer than ${LITERAL_BYTES_MAX} bytes: use fewer alternatives`,
        );
    } catch (error) {
      throw error instanceof RowError ? at(row.slug, error) : error;
    }
  }
}

function checked(row: OperatorRow): Signature {
  try {
    compileRegexTest(row.pattern);
  } catch (error) {
    if (error instanceof RegexError) throw new RowError("pattern", `pattern, character ${error.at + 1}: ${error.message}`);
    throw error;
  }
  const signature = signatureOf(row);
  if (signature.needs.length === 0)
    throw new RowError(
      "pattern",
      "pattern shows no literal of two or more bytes in small letters that every match has in it, so each value would have to be searched: name one",
    );
  const finds = createTextFinder(signature);
  const missed = row.hits.find((hit) => !finds(hit));
  if (missed !== undefined)
    throw new RowError("hits", `pattern does not find ${shown(missed)}; values are read in small letters (reading "${row.reading}")`);
  const found = row.misses.find(finds);
  if (found !== undefined) throw new RowError("misses", `pattern finds ${shown(found)}, which is to be a miss`);
  return signature;
}

/** Whether a value that is sent unchanged has the signature, in its own reading or unchanged. */
function createTextFinder(signature: Signature): (value: string) => boolean {
  const test = createTextTest(signature, []);
  const has = (looked: string, read: string): boolean => signature.needs.some((need) => looked.includes(need)) && test(read);
  return (value) => {
    const decoded = normalise(value);
    if (signature.reading === "lines") return has(decoded.text, decoded.lines);
    return [decoded.text, READ[signature.reading](decoded)].some((text) => has(text, text));
  };
}

const shown = (bytes: string): string => JSON.stringify(Buffer.from(bytes, "latin1").toString("utf8").slice(0, 80));

/** Literals one of which every match contains, in lower case; empty if none is certain. */
function literalsOf(pattern: string): readonly string[] {
  // linear: patterns with (?u) look at characters, and show nothing of their bytes
  if (pattern.startsWith("(?u)")) return [];
  const parts = requiredParts(simplifyTest(parseRegex(pattern)))?.texts ?? requiredGroups(pattern)[0] ?? [];
  return parts.every((part) => part === lowerBytes(part)) ? parts : [];
}
