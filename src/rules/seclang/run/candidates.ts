import { charge } from "#rules/budget.ts";
import { meansName } from "./compiled-rule.ts";
import { type FilterGroup, hasLiteral, type PhaseFilter, type RuleFilter } from "./phase-filter.ts";
import type { Scan } from "../prefilter/scanner.ts";
import type { Collections, Entry } from "../transaction/collections.ts";
import type { CompiledProgram } from "./compiled-program.ts";
import { createKnown, type KnownText, type RulePick } from "./shared-texts.ts";
import { applyStep, leaves, type TransformationChain, type TransformationStep } from "./transformation-chains.ts";

/** A value that a rule may match. */
export interface Candidate {
  readonly collection: string;
  readonly entry: Entry;
  /** Transformed. */
  readonly text: string;
}

const NO_PICKS: readonly RulePick[] = [];
const SCAN_STEPS = 3;

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
  readonly #known = new Map<string, KnownText>();

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

  #picksOf(group: FilterGroup, entry: Entry): readonly RulePick[] {
    const known = isShared(group.collection, entry) ? this.#ofShared(entry.value) : this.#of(entry.value);
    return (known.picks[group.number] ??= this.#pick(group, known));
  }

  #pick({ chains, touches, all }: FilterGroup, known: KnownText): readonly RulePick[] {
    const picks: RulePick[] = [];
    if (leaves(touches, known.scan)) addPicks(all, known.scan, picks);
    else for (const { chain, filter } of chains) addPicks(filter, this.#transformed(known, chain).scan, picks);
    return picks.length === 0 ? NO_PICKS : picks;
  }

  #ofShared(text: string): KnownText {
    const { shared } = this.#compiled;
    let known = shared.get(text);
    if (known === undefined) shared.add(text, (known = this.#of(text)));
    return known;
  }

  #of(text: string): KnownText {
    let known = this.#known.get(text);
    if (known === undefined) {
      charge(text.length * SCAN_STEPS);
      this.#known.set(text, (known = createKnown(this.#compiled.scan(text))));
    }
    return known;
  }

  #transformed(known: KnownText, { touches, steps }: TransformationChain): KnownText {
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
  #after({ keepsScan }: TransformationStep, before: KnownText, text: string): KnownText {
    if (!keepsScan) return this.#of(text);
    let known = this.#known.get(text);
    if (known === undefined) this.#known.set(text, (known = createKnown({ ...before.scan, value: text, hasCapitals: false })));
    return known;
  }
}

function addPicks(filter: RuleFilter, scan: Scan, picks: RulePick[]): void {
  const rules = filter.byClasses(scan);
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]!;
    if (hasLiteral(rule, scan)) picks.push({ rule, text: scan.value });
  }
}
