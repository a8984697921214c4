import type { CompiledLink, CompiledSecRule, CompiledTarget } from "./compiled-rule.ts";
import { joinTouches, NOTHING_TOUCHED, type Touches, type TransformationChain } from "./transformation-chains.ts";
import { type ByteMask, maskOfBytes, meets } from "../prefilter/byte-classes.ts";
import { requiredClasses } from "../prefilter/required-classes.ts";
import { requiredLiterals } from "../prefilter/required-literals.ts";
import type { Scan, ScannerBuilder } from "../prefilter/scanner.ts";

/** The rules of a phase that a scan can exclude; all others are always evaluated. */
export interface PhaseFilter {
  /** By the number of a rule in the phase, whether the filter knows it. */
  readonly isFiltered: Uint8Array;
  readonly collections: readonly CollectionFilter[];
}

/** The rules that inspect a collection. */
export interface CollectionFilter {
  readonly collection: string;
  /** Those for all its values, or for names that a pattern selects. */
  readonly any: FilterGroup | null;
  /** Those for values of one name, by the name in lower case. */
  readonly named: ReadonlyMap<string, FilterGroup>;
}

/** Rules that inspect the same values. */
export interface FilterGroup {
  /** Among the groups of all phases. */
  readonly number: number;
  readonly chains: readonly ChainGroup[];
  /** Byte classes that any of the chains changes: a value without them is scanned once for all chains. */
  readonly touches: Touches;
  readonly all: RuleFilter;
  /** Chains that change any text. */
  readonly changing: readonly ChainGroup[];
}

/** Rules that transform a value in the same way. */
export interface ChainGroup {
  readonly chain: TransformationChain;
  /** Whether the rules test a value after each transformation. */
  readonly isMulti: boolean;
  readonly filter: RuleFilter;
}

/** Finds the rules that may match a scanned value. */
export interface RuleFilter {
  /** Rules all of whose classes are among those of the value's bytes; the caller checks their literals (`hasLiteral`). */
  byBytes(low: number, high: number): readonly FilteredRule[];
}

export interface FilteredRule {
  /** The number of the rule in its phase. */
  readonly place: number;
  /** Null if it reads every value of the collection. */
  readonly targets: readonly CompiledTarget[] | null;
  readonly clauses: readonly ByteMask[];
  readonly chain: TransformationChain;
  /** The list of literals of which the value must contain one, or -1. */
  readonly list: number;
  /** Whether it tests a value after each transformation. */
  readonly isMulti: boolean;
}

export function createPhaseFilter(rules: readonly CompiledSecRule[], builder: ScannerBuilder, nextGroup: () => number): PhaseFilter {
  const isFiltered = new Uint8Array(rules.length);
  // By the collection and the name; the empty name is for the rules that do not name their values.
  const collections = new Map<string, Map<string, FilteredRule[]>>();
  for (const [place, { links }] of rules.entries()) {
    const [link] = links;
    const needs = link === undefined ? null : needsOf(link, builder);
    if (link === undefined || needs === null) continue;
    isFiltered[place] = 1;
    for (const collection of new Set(link.targets.map((target) => target.collection))) {
      const targets = link.targets.filter((target) => target.collection === collection);
      const meansAll = targets.some(({ name, fits }) => name === null && fits === null);
      const names = targets.map(({ name }) => name);
      const isNamed = names.every((name) => name !== null && name !== "");
      const { chain } = link;
      const filtered: FilteredRule = {
        place,
        targets: meansAll || isNamed ? null : targets,
        chain,
        isMulti: link.link.isMultiMatch,
        ...needs,
      };
      const groups = entryOf(collections, collection, () => new Map<string, FilteredRule[]>());
      for (const name of isNamed ? new Set(names as readonly string[]) : [ANY])
        entryOf(groups, name, (): FilteredRule[] => []).push(filtered);
    }
  }
  return {
    isFiltered,
    collections: Array.from(collections, ([collection, groups]) => {
      const made = new Map(Array.from(groups, ([name, filtered]) => [name, groupOf(nextGroup(), filtered)]));
      const any = made.get(ANY) ?? null;
      made.delete(ANY);
      return { collection, any, named: made };
    }),
  };
}

const ANY = "";

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** The start of a literal is nearly as selective, and takes far fewer states. */
const LITERAL_BYTES_MAX = 5;
const shortened = (literal: string): string => literal.slice(0, LITERAL_BYTES_MAX);

type Needs = Pick<FilteredRule, "clauses" | "list">;

const STORED = new Set(["MATCHED_VAR", "MATCHED_VARS", "MATCHED_VARS_NAMES", "MATCHED_VAR_NAME", "RULE", "HIGHEST_SEVERITY"]);

/** Requirements of a first link; null if it must always be evaluated. */
function needsOf({ operator, targets, isNegated }: CompiledLink, builder: ScannerBuilder): Needs | null {
  if (operator === null) return null;
  if (targets.some(({ isCount, isStore, collection }) => isCount || isStore || STORED.has(collection))) return null;
  // Never the same twice, and read by rules that a setting turns on.
  if (targets.every(({ collection }) => collection === "UNIQUE_ID")) return null;
  const { needs } = operator;
  // Any value may match: the filter finds the values of a name, which requests often lack.
  if (isNegated || needs === null) return targets.every(isOfName) ? { clauses: [], list: -1 } : null;
  if (needs.kind === "words") return { clauses: [], list: builder.add(needs.words.map(shortened)) };
  if (needs.kind === "byte") return { clauses: [maskOfBytes(needs.bytes)], list: -1 };
  const clauses = requiredClasses(needs.pattern);
  const literals = requiredLiterals(needs.pattern);
  return { clauses, list: literals === null ? -1 : builder.add(literals.map(shortened)) };
}

const isOfName = ({ name }: CompiledTarget): boolean => name !== null && name !== "";

function groupOf(number: number, rules: readonly FilteredRule[]): FilterGroup {
  const [changing, others] = [true, false].map((changes) => rules.filter(({ chain }) => chain.touches.anything === changes));
  return {
    number,
    chains: chainsOf(others!),
    touches: others!.reduce((all, { chain }) => joinTouches(all, chain.touches), NOTHING_TOUCHED),
    all: createRuleFilter(others!),
    changing: chainsOf(changing!),
  };
}

const chainsOf = (rules: readonly FilteredRule[]): readonly ChainGroup[] =>
  [true, false].flatMap((isMulti) =>
    Array.from(
      Map.groupBy(
        rules.filter((rule) => rule.isMulti === isMulti),
        ({ chain }) => chain,
      ),
      ([chain, same]) => ({ chain, isMulti, filter: createRuleFilter(same) }),
    ),
  );

const MASKS_MAX = 2000;

/** Values with the same classes of bytes have the same rules to evaluate, except for the literals. */
function createRuleFilter(rules: readonly FilteredRule[]): RuleFilter {
  let known = new Map<number, Map<number, readonly FilteredRule[]>>();
  let size = 0;
  return {
    byBytes: (low, high) => {
      let byHigh = known.get(low);
      if (byHigh === undefined) known.set(low, (byHigh = new Map()));
      let found = byHigh.get(high);
      if (found === undefined) {
        found = rules.filter(({ clauses }) => clauses.every((clause) => meets(clause, low, high)));
        byHigh.set(high, found);
        if (++size > MASKS_MAX) {
          known = new Map();
          size = 0;
        }
      }
      return found;
    },
  };
}

/** Whether a value contains one of the literals that a rule searches. */
export const hasLiteral = ({ list }: FilteredRule, { hits }: Scan): boolean => list === -1 || (hits.length > 0 && hits.includes(list));
