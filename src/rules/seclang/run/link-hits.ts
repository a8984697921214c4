import { charge } from "#rules/budget.ts";
import type { Groups } from "../patterns/pattern.ts";
import type { Entry } from "../transaction/collections.ts";
import type { Candidate } from "./candidates.ts";
import { type CompiledLink, type CompiledTarget, meansName } from "./compiled-rule.ts";
import type { Exclusions } from "./exclusions.ts";
import type { Store } from "./store.ts";
import { transform, transformEach } from "./transformation-chains.ts";
import type { Variables } from "./variables.ts";

/** A value that a link matched. */
export interface Hit {
  readonly name: string;
  readonly value: string;
  readonly groups: Groups | null;
}

export interface LinkHitsDeps {
  readonly variables: Variables;
  readonly store: Store;
  readonly exclusions: Exclusions;
  /** Whether matches have messages, which may show what was captured. */
  readonly hasTexts: boolean;
}

const NO_HITS: readonly Hit[] = [];
const ALWAYS: readonly Hit[] = [{ name: "", value: "", groups: null }];
const RULE_STEPS = 100;

/** Finds the values that the links of a rule match. */
export class LinkHits {
  readonly #deps: LinkHitsDeps;
  #rule = 0;

  constructor(deps: LinkHitsDeps) {
    this.#deps = deps;
  }

  beginRule(id: number): void {
    this.#rule = id;
  }

  /** Hits among the values that the filter leaves. */
  ofCandidates(link: CompiledLink, found: readonly Candidate[]): readonly Hit[] {
    let hits: Hit[] | null = null;
    const { expand } = this.#deps.variables;
    for (const { collection, entry, text } of found) {
      if (this.#isExcluded(link, collection, entry)) continue;
      const groups = link.operator!.test(text, expand, this.capturesIn(link));
      if (groups !== null) (hits ??= []).push({ name: nameOf(collection, entry), value: text, groups });
    }
    return hits ?? NO_HITS;
  }

  /** Hits among all values of its targets. */
  of(link: CompiledLink): readonly Hit[] {
    if (link.operator === null) return ALWAYS;
    charge(RULE_STEPS);
    const { store, exclusions, variables } = this.#deps;
    const hits: Hit[] = [];
    const seen = new Set<string>();
    for (const target of link.targets) {
      const { collection } = target;
      if (target.isCount) {
        const name = `&${collection}`;
        if (!exclusions.hasValue(this.#rule, NOTHING_EXCLUDED, name, "")) this.#try(link, name, String(this.#count(link, target)), hits);
      } else if (target.isStore && target.name !== null) {
        const value = store.get(collection, target.name);
        if (value !== undefined) this.#try(link, `${collection}:${target.name}`, value, hits);
      } else if (!seen.has(collection)) {
        // Several targets of one collection look at each of its values once.
        seen.add(collection);
        const targets = link.targets.filter((other) => other.collection === collection && !other.isCount);
        for (const entry of variables.entries(collection))
          if (targets.some((one) => meansName(one, entry.lower)) && !this.#isExcluded(link, collection, entry))
            this.#try(link, nameOf(collection, entry), entry.value, hits);
      }
    }
    return hits;
  }

  /** Without texts for a log, only what rules themselves read is captured. */
  capturesIn(link: CompiledLink): boolean {
    return link.capturesMatter || (this.#deps.hasTexts && link.link.captures);
  }

  #try(link: CompiledLink, name: string, value: string, hits: Hit[]): void {
    const { chain, isNegated } = link;
    const texts = link.link.isMultiMatch ? transformEach(chain, value) : [transform(chain, value)];
    for (const text of texts) {
      const groups = link.operator!.test(text, this.#deps.variables.expand, this.capturesIn(link));
      if (isNegated ? groups === null : groups !== null) hits.push({ name, value: text, groups: isNegated ? [text] : groups });
    }
  }

  #count(link: CompiledLink, target: CompiledTarget): number {
    const { store, variables } = this.#deps;
    if (target.isStore && target.name !== null) return store.get(target.collection, target.name) === undefined ? 0 : 1;
    let count = 0;
    for (const entry of variables.entries(target.collection))
      if (meansName(target, entry.lower) && !this.#isExcluded(link, target.collection, entry)) count++;
    return count;
  }

  #isExcluded(link: CompiledLink, collection: string, { lower }: Entry): boolean {
    return this.#deps.exclusions.hasValue(this.#rule, link, collection, lower);
  }
}

const NOTHING_EXCLUDED: Pick<CompiledLink, "excluded"> = { excluded: [] };
const nameOf = (collection: string, { name }: Entry): string => (name === "" ? collection : `${collection}:${name}`);
