import { charge } from "#rules/budget.ts";
import { meansName } from "./compiled-rule.ts";
import { hasLiteral, type PhaseFilter, type RuleFilter } from "./phase-filter.ts";
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
}

const SCAN_STEPS = 3;

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
    for (const { collection, chains, touches, all } of groups) {
      for (const entry of collections.get(collection)) {
        const known = this.#of(entry.value);
        if (leaves(touches, known.scan)) pick(all, known.scan, collection, entry, found);
        else for (const { chain, filter } of chains) pick(filter, this.#transformed(known, chain).scan, collection, entry, found);
      }
    }
    return found;
  }

  #of(text: string): Known {
    let known = this.#known.get(text);
    if (known === undefined) {
      charge(text.length * SCAN_STEPS);
      this.#known.set(text, (known = { scan: this.#compiled.scan(text), transformed: [] }));
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
    if (known === undefined)
      this.#known.set(text, (known = { scan: { ...before.scan, value: text, hasCapitals: false }, transformed: [] }));
    return known;
  }
}

function pick(filter: RuleFilter, scan: Scan, collection: string, entry: Entry, found: (Candidate[] | undefined)[]): void {
  let candidate: Candidate | null = null;
  const rules = filter.byClasses(scan);
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]!;
    if (!hasLiteral(rule, scan)) continue;
    const { place, targets } = rule;
    if (targets !== null && !targets.some((target) => meansName(target, entry.lower))) continue;
    candidate ??= { collection, entry, text: scan.value };
    const known = found[place];
    if (known === undefined) found[place] = [candidate];
    else known.push(candidate);
  }
}
