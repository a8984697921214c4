import { charge } from "#rules/budget.ts";
import { meansName } from "./compiled-rule.ts";
import type { PhaseFilter, RuleFilter } from "./phase-filter.ts";
import type { Scan } from "../prefilter/scanner.ts";
import type { Collections, Entry } from "../transaction/collections.ts";
import type { CompiledProgram } from "./engine.ts";
import { leaves, transform, type TransformationChain } from "./transformation-chains.ts";

/** A value that a rule may match. */
export interface Candidate {
  readonly collection: string;
  readonly entry: Entry;
  /** Transformed. */
  readonly text: string;
}

/** What is known of one distinct text. */
interface Known {
  readonly scan: Scan;
  /** By the number of a chain, what it makes of the text. */
  readonly transformed: (Known | undefined)[];
}

const SCAN_STEPS = 3;

/** Finds the rules to ask. Each distinct text of a transaction is scanned once, and transformed once by each chain. */
export class Candidates {
  readonly #compiled: CompiledProgram;
  readonly #known = new Map<string, Known>();

  constructor(compiled: CompiledProgram) {
    this.#compiled = compiled;
  }

  /** By the number of a rule in the phase; undefined where it cannot match. */
  find({ groups, isFiltered }: PhaseFilter, collections: Collections): readonly (readonly Candidate[] | undefined)[] {
    const found: (Candidate[] | undefined)[] = new Array(isFiltered.length);
    for (const { collection, chains, touches, all } of groups) {
      for (const entry of collections.get(collection)) {
        const known = this.#of(entry.value);
        const { low, high, hasCapitals } = known.scan;
        const isSame = (low & touches.low) === 0 && (high & touches.high) === 0 && !(touches.touchesCapitals && hasCapitals);
        if (isSame && touches.low !== -1) pick(all, known.scan, collection, entry, found);
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

  #transformed(known: Known, chain: TransformationChain): Known {
    if (leaves(chain, known.scan)) return known;
    const before = known.transformed[chain.number];
    if (before !== undefined) return before;
    const text = transform(chain, known.scan.value);
    const after = text === known.scan.value ? known : this.#of(text);
    known.transformed[chain.number] = after;
    return after;
  }
}

function pick(filter: RuleFilter, scan: Scan, collection: string, entry: Entry, found: (Candidate[] | undefined)[]): void {
  for (const { place, targets } of filter.candidates(scan)) {
    if (targets !== null && !targets.some((target) => meansName(target, entry.lower))) continue;
    const candidate = { collection, entry, text: scan.value };
    const known = found[place];
    if (known === undefined) found[place] = [candidate];
    else known.push(candidate);
  }
}
