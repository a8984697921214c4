import { charge } from "../../budget.ts";
import { rememberLast } from "#rules/text/memo.ts";
import { compileRegexTest, type RegexTest } from "#rules/regex/regex.ts";
import type { RequestView } from "../../views.ts";
import { createLiteralAutomaton } from "./literal-automaton.ts";
import { plainPath, unquoted, withoutComments } from "./normalise.ts";
import { eachPiece } from "./pieces.ts";
import type { Matched } from "#rules/managed/matched-part.ts";
import type { Reading, Signature } from "./signature.ts";

/** Signatures of which each request is asked once, whoever deploys them. */
export interface SignatureSet {
  /** Numbers of those that may be in the request, in their order. Within one phase a request does not change. */
  candidates(request: RequestView): readonly number[];
  /** Whether the request has the signature of this number. */
  matches(request: RequestView, number: number): boolean;
  /** The first value that has it, as signatures read values. */
  explain(request: RequestView, number: number): Matched | undefined;
}

const MATCHED_CHARACTERS_MAX = 200;

const READINGS: readonly Reading[] = ["plain", "sql", "path", "shell"];
/** What a value is in each reading, where that differs. */
const READ: Readonly<Record<Reading, (text: string) => string>> = {
  plain: (text) => text,
  sql: withoutComments,
  path: plainPath,
  shell: unquoted,
};

/** Of signatures at one place of a text: no more than that, and nearly always one. */
const STEPS_MAX = 10_000_000;

// What a byte costs of a piece that is looked through, read in other ways, and tested; what each literal costs that ends there; and
// what a piece costs, however short.
const LOOK_STEPS = 6;
const FOUND_STEPS = 4;
const READ_STEPS = 5;
const TEST_STEPS = 5;
const PIECE_STEPS = 300;

/** What of a request may have which signature. */
interface Inspection {
  readonly texts: ReadonlyMap<number, Set<string>>;
  readonly numbers: readonly number[];
  readonly verdicts: Map<number, boolean>;
}

const NOTHING: Inspection = { texts: new Map(), numbers: [], verdicts: new Map() };

export function createSignatureSet(signatures: readonly Signature[]): SignatureSet {
  const literals = [...new Set(signatures.flatMap(({ needs }) => needs))];
  const automaton = createLiteralAutomaton(literals);
  const patterns: (RegexTest | undefined)[] = [];
  const rows = literals.map((literal) =>
    signatures.flatMap(({ needs, targets, reading }, number) => (needs.includes(literal) ? [{ number, targets, reading }] : [])),
  );

  /** The look that each literal was found in last: one that stands in a text a thousand times is one. */
  const lastLooks = new Float64Array(literals.length);
  let looks = 0;

  const inspect = rememberLast((request: RequestView): Inspection => {
    let texts: Map<number, Set<string>> | null = null;
    const look = (text: string, target: number, reading: Reading, isSame: boolean): void => {
      charge(text.length * LOOK_STEPS + PIECE_STEPS);
      const serial = ++looks;
      let founds = 0;
      automaton.scan(text, (literal) => {
        founds++;
        if (lastLooks[literal] === serial) return;
        lastLooks[literal] = serial;
        for (const row of rows[literal]!) {
          // A reading that changes nothing was seen already.
          if ((row.targets & target) === 0 || (row.reading !== reading && !isSame)) continue;
          const known = (texts ??= new Map<number, Set<string>>()).get(row.number);
          if (known === undefined) texts.set(row.number, new Set([text]));
          else known.add(text);
        }
      });
      charge(founds * FOUND_STEPS);
    };
    eachPiece(request, (text, target) => {
      // It was made ready already, and is read in other ways.
      charge(text.length * READ_STEPS);
      look(text, target, "plain", true);
      for (const reading of READINGS) {
        const read = READ[reading](text);
        if (read !== text) look(read, target, reading, false);
      }
    });
    if (texts === null) return NOTHING;
    const found: Map<number, Set<string>> = texts;
    return { texts: found, numbers: [...found.keys()].sort((a, b) => a - b), verdicts: new Map() };
  });

  const patternOf = (number: number): RegexTest => (patterns[number] ??= compileRegexTest(signatures[number]!.pattern, STEPS_MAX));

  return {
    explain: (request, number) => {
      const { targets, reading } = signatures[number]!;
      let matched: Matched | undefined;
      eachPiece(request, (text, target, part, name) => {
        if (matched !== undefined || (targets & target) === 0) return;
        charge(text.length * (4 * READ_STEPS + 2 * TEST_STEPS) + PIECE_STEPS);
        const value = [text, READ[reading](text)].find((read) => patternOf(number).test(read));
        if (value !== undefined) matched = { part, name, value: value.slice(0, MATCHED_CHARACTERS_MAX) };
      });
      return matched;
    },
    candidates: (request) => inspect(request).numbers,
    matches: (request, number) => {
      const { texts, verdicts } = inspect(request);
      const candidates = texts.get(number);
      if (candidates === undefined) return false;
      let verdict = verdicts.get(number);
      if (verdict === undefined) {
        const pattern = patternOf(number);
        verdict = [...candidates].some((text) => {
          charge(text.length * TEST_STEPS + PIECE_STEPS);
          return pattern.test(text);
        });
        verdicts.set(number, verdict);
      }
      return verdict;
    },
  };
}
