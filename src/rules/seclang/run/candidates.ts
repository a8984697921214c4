import { charge } from "#rules/budget.ts";
import { meansName } from "./compiled-rule.ts";
import { type FilteredRule, type FilterGroup, hasLiteral, type PhaseFilter, type RuleFilter } from "./phase-filter.ts";
import type { Scan } from "../prefilter/scanner.ts";
import type { Collections, Entry } from "../transaction/collections.ts";
import type { CompiledProgram } from "./compiled-program.ts";
import { applyStep, leaves, type TransformationChain, type TransformationStep } from "./transformation-chains.ts";

/** A value that a rule may match. */
export interface Candidate {
  readonly collection: string;
  readonly entry: Entry;
  /** Transformed. */
  readonly text: string;
}

/** Results for one distinct text. */
interface Known {
  readonly scan: Scan;
  /** The result of each transformation on the text, by its number. */
  readonly transformed: (Known | undefined)[];
  /** By the number of a group of rules, those that may match it. */
  readonly picks: (readonly Pick[] | undefined)[];
}

/** A rule that may match a value, by what its transformations make of the value. */
interface Pick {
  readonly rule: FilteredRule;
  readonly text: string;
}

const NO_PICKS: readonly Pick[] = [];
const SCAN_STEPS = 3;
const createKnown = (scan: Scan): Known => ({ scan, transformed: [], picks: [] });

/** Results for texts that many requests have: names of header fields and of arguments, and values of header fields that hold no secret. */
export class SharedTexts {
  #known = new Map<string, Known>();

  get(text: string): Known | undefined {
    return this.#known.get(text);
  }

  add(text: string, known: Known): void {
    if (text.length > SHARED_BYTES_MAX) return;
    if (this.#known.size >= SHARED_MAX) this.#known = new Map();
    this.#known.set(text, known);
  }
}

const SHARED_MAX = 2000;
const SHARED_BYTES_MAX = 128;
const SHARED_FIELDS: ReadonlySet<string> = new Set([
  ...["host", "user-agent", "accept", "accept-encoding", "accept-language", "connection", "content-type", "content-length"],
  ...["cache-control", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "upgrade-insecure-requests"],
]);
const isShared = (collection: string, { lower }: Entry): boolean =>
  collection.endsWith("_NAMES") || (collection === "REQUEST_HEADERS" && SHARED_FIELDS.has(lower));

/**
 * Finds the rules to evaluate. Each distinct text of a transaction is scanned once, and transformed once by each
 * transformation.
 */
export class Candidates {
  readonly #compiled: CompiledProgram;
  readonly #known = new Map<string, Known>();

  constructor(compiled: CompiledProgram) {
    this.#compiled = compiled;
  }

  /** By the number of a rule in the phase; undefined if it cannot match. */
  find({ groups, isFiltered }: PhaseFilter, collections: Collections): readonly (readonly Candidate[] | undefined)[] {
    const found: (Candidate[] | undefined)[] = new Array(isFiltered.length);
    for (const group of groups) {
      for (const entry of collections.get(group.collection)) {
        const picks = this.#picksOf(group, entry);
        for (let i = 0; i < picks.length; i++) {
          const { rule, text } = picks[i]!;
          const { place, targets } = rule;
          if (targets !== null && !targets.some((target) => meansName(target, entry.lower))) continue;
          const candidate = { collection: group.collection, entry, text };
          const known = found[place];
          if (known === undefined) found[place] = [candidate];
          else known.push(candidate);
        }
      }
    }
    return found;
  }

  #picksOf(group: FilterGroup, entry: Entry): readonly Pick[] {
    const known = isShared(group.collection, entry) ? this.#ofShared(entry.value) : this.#of(entry.value);
    return (known.picks[group.number] ??= this.#pick(group, known));
  }

  #pick({ chains, touches, all }: FilterGroup, known: Known): readonly Pick[] {
    const picks: Pick[] = [];
    if (leaves(touches, known.scan)) addPicks(all, known.scan, picks);
    else for (const { chain, filter } of chains) addPicks(filter, this.#transformed(known, chain).scan, picks);
    return picks.length === 0 ? NO_PICKS : picks;
  }

  #ofShared(text: string): Known {
    const { shared } = this.#compiled;
    let known = shared.get(text);
    if (known === undefined) shared.add(text, (known = this.#of(text)));
    return known;
  }

  #of(text: string): Known {
    let known = this.#known.get(text);
    if (known === undefined) {
      charge(text.length * SCAN_STEPS);
      this.#known.set(text, (known = createKnown(this.#compiled.scan(text))));
    }
    return known;
  }

  #transformed(known: Known, { touches, steps }: TransformationChain): Known {
    if (leaves(touches, known.scan)) return known;
    let last = known;
    for (const step of steps) {
      if (leaves(step.touches, last.scan)) continue;
      let next = last.transformed[step.number];
      if (next === undefined) {
        const text = applyStep(step, last.scan.value);
        next = text === last.scan.value ? last : this.#after(step, last, text);
        last.transformed[step.number] = next;
      }
      last = next;
    }
    return last;
  }

  /** Literals and classes ignore case, so the lower-case text needs no other scan. */
  #after({ keepsScan }: TransformationStep, before: Known, text: string): Known {
    if (!keepsScan) return this.#of(text);
    let known = this.#known.get(text);
    if (known === undefined) this.#known.set(text, (known = createKnown({ ...before.scan, value: text, hasCapitals: false })));
    return known;
  }
}

function addPicks(filter: RuleFilter, scan: Scan, picks: Pick[]): void {
  const rules = filter.byClasses(scan);
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]!;
    if (hasLiteral(rule, scan)) picks.push({ rule, text: scan.value });
  }
}
