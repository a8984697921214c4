import { createAddressSetOf } from "#rules/expression/values/address-set.ts";
import { detectMarkup, MARKUP_PARTS } from "../markup/detect-markup.ts";
import { createPattern, type SecPattern } from "../patterns/pattern.ts";
import { detectSql, SQL_PARTS } from "../sql/detect-sql.ts";
import type { Macro } from "../syntax/macro.ts";
import type { OperatorName } from "../syntax/operator.ts";
import { SecLangError } from "../syntax/source-error.ts";
import type { SecOperator } from "../program/program.ts";
import { validateByteRange, validateUrlEncoding, validateUtf8 } from "./encodings.ts";
import { type OperatorTest, wholeValueMatch } from "./operator-test.ts";
import { createWordFinder } from "./word-finder.ts";

/** A compiled operator of a rule. Throws SecLangError if its argument is invalid. */
export function createOperator(operator: SecOperator): OperatorTest {
  try {
    return MAKERS[operator.name](operator);
  } catch (error) {
    if (error instanceof SecLangError || !(error instanceof Error)) throw error;
    throw new SecLangError(operator.place, `@${operator.name}: ${error.message}`);
  }
}

type Maker = (operator: SecOperator) => OperatorTest;

/** Compares a value and the argument. */
const compared =
  (fits: (value: string, argument: string) => boolean): Maker =>
  ({ argument }) => ({ test: (value, expand) => wholeValueMatch(value, fits(value, expand(argument))), needs: null });

const WORD_BYTES_MIN = 2;

/** Looks for the argument in a value: without its bytes there is no match. */
const found =
  (fits: (value: string, argument: string) => boolean): Maker =>
  (operator) => {
    const { argument } = operator;
    const isWord = typeof argument === "string" && argument.length >= WORD_BYTES_MIN;
    return { ...compared(fits)(operator), needs: isWord ? { kind: "words", words: [argument.toLowerCase()] } : null };
  };

const numbers =
  (fits: (value: number, argument: number) => boolean): Maker =>
  (operator) => {
    const { argument } = operator;
    if (typeof argument !== "string") return compared((value, expanded) => fits(integerOf(value), integerOf(expanded)))(operator);
    const number = integerOf(argument);
    return { test: (value) => wholeValueMatch(value, fits(integerOf(value), number)), needs: null };
  };

/** The number as C's atoi reads it: 0 for a text that is not a number. */
export function integerOf(text: string): number {
  // Most are flags and levels.
  if (text.length === 1) return isDigit(text) ? text.charCodeAt(0) - 0x30 : 0;
  const value = Number.parseInt(text, 10);
  return Number.isNaN(value) ? 0 : value;
}

const isDigit = (char: string): boolean => char >= "0" && char <= "9";

const whenever =
  (fits: (value: string) => boolean): Maker =>
  () => ({ test: (value) => wholeValueMatch(value, fits(value)), needs: null });

const pattern: Maker = ({ argument }) => {
  if (typeof argument !== "string") return expandedPattern(argument);
  const compiled = createPattern(argument);
  return {
    test: (value, _, wantsGroups) => (wantsGroups ? compiled.exec(value) : compiled.test(value) ? MATCHED : null),
    needs: { kind: "pattern", pattern: compiled.node },
  };
};

const MATCHED: readonly string[] = [];

const EXPANDED_MAX = 64;

/** A pattern with variables in it; earlier expansions are remembered. An invalid pattern matches nothing. */
function expandedPattern(argument: Macro): OperatorTest {
  const known = new Map<string, SecPattern | null>();
  return {
    test: (value, expand, wantsGroups) => {
      const source = expand(argument);
      let compiled = known.get(source);
      if (compiled === undefined) {
        if (known.size === EXPANDED_MAX) known.clear();
        known.set(source, (compiled = patternOrNull(source)));
      }
      if (compiled === null) return null;
      return wantsGroups ? compiled.exec(value) : wholeValueMatch(value, compiled.test(value));
    },
    needs: null,
  };
}

function patternOrNull(source: string): SecPattern | null {
  try {
    return createPattern(source);
  } catch {
    return null;
  }
}

const words: Maker = ({ words: wanted }) => {
  const find = createWordFinder(wanted);
  return {
    test: (value) => {
      const found = find(value);
      return found === undefined ? null : [found];
    },
    needs: { kind: "words", words: wanted },
  };
};

const addresses: Maker = ({ words: wanted }) => {
  const set = createAddressSetOf(wanted);
  return { test: (value) => wholeValueMatch(value, set.has(value)), needs: null };
};

const isWordByte = (text: string, at: number): boolean => /\w/.test(text[at] ?? "");

function containsWord(value: string, word: string): boolean {
  if (word === "") return true;
  for (let at = value.indexOf(word); at !== -1; at = value.indexOf(word, at + word.length))
    if (!isWordByte(value, at - 1) && !isWordByte(value, at + word.length)) return true;
  return false;
}

const MAKERS: Readonly<Record<OperatorName, Maker>> = {
  beginsWith: found((value, argument) => value.startsWith(argument)),
  contains: found((value, argument) => value.includes(argument)),
  containsWord: found(containsWord),
  detectSQLi: () => ({
    test: (value) => {
      const found = detectSql(value);
      return found === null ? null : [found];
    },
    needs: { kind: "words", words: SQL_PARTS },
  }),
  detectXSS: () => ({
    test: (value) => wholeValueMatch(value, detectMarkup(value)),
    needs: { kind: "words", words: MARKUP_PARTS },
  }),
  endsWith: found((value, argument) => value.endsWith(argument)),
  eq: numbers((value, argument) => value === argument),
  ge: numbers((value, argument) => value >= argument),
  // The location of an address comes with the request (GEO:COUNTRY_CODE), so nothing is looked up.
  geoLookup: whenever(() => true),
  gt: numbers((value, argument) => value > argument),
  ipMatch: addresses,
  ipMatchF: addresses,
  ipMatchFromFile: addresses,
  le: numbers((value, argument) => value <= argument),
  lt: numbers((value, argument) => value < argument),
  noMatch: whenever(() => false),
  pm: words,
  pmf: words,
  pmFromFile: words,
  // Querying a nameserver for each request would make every visitor wait: such a rule never matches (ADR 0080).
  rbl: whenever(() => false),
  rx: pattern,
  rxGlobal: pattern,
  strmatch: found((value, argument) => value.includes(argument)),
  streq: found((value, argument) => value === argument),
  unconditionalMatch: whenever(() => true),
  validateByteRange,
  validateUrlEncoding: whenever((value) => !validateUrlEncoding(value)),
  validateUtf8Encoding: whenever((value) => !validateUtf8(value)),
  within: compared((value, argument) => argument.includes(value)),
};
