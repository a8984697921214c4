import { type LearnedStates, statePool } from "./learned-states.ts";
import { compileRegexReplacer, compileRegexTest, RegexError, type RegexReplacer, type RegexTest } from "./regex.ts";

/**
 * Limit of positions for all regular expressions of one ruleset, with repetitions expanded: compiling them takes half a
 * second of a thread and 20 MB. A single one may have 1,000.
 */
export const REGEX_POSITIONS_MAX = 50_000;

/** Patterns over characters, `(?u)`, are compiled at once, as part of checking their rule. */
const CHARACTER_PLACES_MAX = 2000;
/** A class of characters is a table of hundreds of ranges: it takes as long as this many positions. */
const CLASS_PLACES = 15;

/** The regular expressions of one ruleset, each compiled once for all rules that have it. Methods throw RegexError. */
export interface RegexTable {
  test(pattern: string): RegexTest;
  replacer(pattern: string): RegexReplacer;
  /** Counts other work of the ruleset, in positions of a regular expression. */
  take(more: number): void;
  /** Call before each rule. */
  beginRule(): void;
  /** Positions of all of them together. */
  readonly places: number;
  /** Compiled patterns, for the table of the ruleset that replaces this one. */
  readonly known: {
    test(pattern: string): RegexTest | undefined;
    replacer(pattern: string): RegexReplacer | undefined;
  };
  /** States that its automata have learned from their texts. */
  readonly states: LearnedStates;
  /** Patterns since the last call that must still be prepared. */
  takeNew(): readonly Preparable[];
}

export type Preparable = Pick<RegexTest, "size" | "prepare">;

/** `placesMax`: more are refused. `before`: the table of the replaced ruleset, whose expressions are reused. */
export function createRegexTable(placesMax = Number.POSITIVE_INFINITY, before?: RegexTable): RegexTable {
  const tables = { test: new Map<string, RegexTest>(), replacer: new Map<string, RegexReplacer>() };
  // Reused patterns count in the same states; those of the previous version only are dropped.
  const states = before?.states ?? statePool.createGroup();
  states.forget();
  let places = 0;
  let characterPlaces = 0;
  let fresh: Preparable[] = [];

  const take = (more: number): void => {
    places += more;
    if (places > placesMax)
      throw new RegexError(
        `with it, the regular expressions of this ruleset have ${places} positions after expanding their repetitions; at most ${placesMax} are allowed`,
        0,
      );
  };
  const find = <T extends Preparable>(known: Map<string, T>, pattern: string, compile: () => T): T => {
    let found = known.get(pattern);
    if (found !== undefined) return found;
    found = compile();
    take(found.size);
    if (/^\(\?[ims]*u/.test(pattern)) characterPlaces += found.size + CLASS_PLACES * (pattern.split(/\\p/i).length - 1);
    if (characterPlaces > CHARACTER_PLACES_MAX)
      throw new RegexError(
        `with it, the regular expressions with (?u) of this rule have ${characterPlaces} positions after expanding their repetitions, counting ${CLASS_PLACES} for each \\p{…}; at most ${CHARACTER_PLACES_MAX} are allowed`,
        0,
      );
    known.set(pattern, found);
    fresh.push(found);
    return found;
  };
  return {
    test: (pattern) => find(tables.test, pattern, () => before?.known.test(pattern) ?? compileRegexTest(pattern, undefined, states)),
    replacer: (pattern) => find(tables.replacer, pattern, () => before?.known.replacer(pattern) ?? compileRegexReplacer(pattern, states)),
    take,
    beginRule: () => {
      characterPlaces = 0;
    },
    get places() {
      return places;
    },
    states,
    known: { test: (pattern) => tables.test.get(pattern), replacer: (pattern) => tables.replacer.get(pattern) },
    takeNew: () => {
      const taken = fresh;
      fresh = [];
      return taken;
    },
  };
}
