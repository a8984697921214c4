import { charge } from "#rules/budget.ts";
import type { Groups } from "../patterns/pattern.ts";
import type { Entry } from "../transaction/collections.ts";
import type { Candidate, Candidates } from "./candidates.ts";
import { type CompiledLink, type CompiledTarget, meansName } from "./compiled-rule.ts";
import type { Exclusions } from "./exclusions.ts";
import type { KnownText } from "./shared-texts.ts";
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
  readonly texts: Pick<Candidates, "shared" | "textOf" | "textsOf">;
  /** Whether matches have messages, which may contain captures. */
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

  /** Hits among the values that the filter left. */
  ofCandidates(link: CompiledLink, found: readonly Candidate[]): readonly Hit[] {
    let hits: Hit[] | null = null;
    for (const { collection, entry, pick } of inOrder(found, link.targets)) {
      if (this.#isExcluded(link, collection, entry)) continue;
      const before = hits?.length ?? 0;
      hits = link.link.isMultiMatch
        ? this.#tryEach(link, collection, entry, hits)
        : this.#tryText(link, collection, entry, pick.text, hits);
      if ((hits?.length ?? 0) === before) pick.isMiss = link.isConstant;
    }
    return hits ?? NO_HITS;
  }

  /** Hits among all values of its targets. Most links read one variable that a rule has set, and most have no hit. */
  of(link: CompiledLink): readonly Hit[] {
    if (link.operator === null) return ALWAYS;
    charge(RULE_STEPS);
    const { store, exclusions, variables } = this.#deps;
    const { targets } = link;
    let hits: Hit[] | null = null;
    for (let at = 0; at < targets.length; at++) {
      const target = targets[at]!;
      const { collection, name, shown } = target;
      if (target.isCount) {
        if (!exclusions.hasValue(this.#rule, NOTHING_EXCLUDED, shown, ""))
          hits = this.#try(link, shown, null, this.#count(link, target), hits);
      } else if (target.isStore && name !== null) {
        const value = store.get(collection, name);
        if (value !== undefined) hits = this.#try(link, shown, null, value, hits);
      } else if (isFirst(targets, at)) {
        for (const entry of variables.entries(collection))
          if (isMeant(targets, at, entry.lower) && !this.#isExcluded(link, collection, entry))
            hits =
              target.isStore || link.link.isMultiMatch
                ? this.#try(link, collection, entry, entry.value, hits)
                : this.#tryEntry(link, collection, entry, hits);
      }
    }
    return hits ?? NO_HITS;
  }

  /** Without log texts, only captures that rules read are stored. */
  capturesIn(link: CompiledLink): boolean {
    return link.capturesMatter || (this.#deps.hasTexts && link.link.captures);
  }

  /** The hits with those of a value. `entry`: the named value of the collection `shown`; null if `shown` is the whole name. */
  #try(link: CompiledLink, shown: string, entry: Entry | null, value: string, hits: Hit[] | null): Hit[] | null {
    const { chain } = link;
    if (!link.link.isMultiMatch) return this.#tryText(link, shown, entry, transform(chain, value), hits);
    let all = hits;
    for (const text of transformEach(chain, value)) all = this.#tryText(link, shown, entry, text, all);
    return all;
  }

  /** A value of the request, after each transformation that changes it. */
  #tryEach(link: CompiledLink, collection: string, entry: Entry, hits: Hit[] | null): Hit[] | null {
    let all = hits;
    for (const text of this.#deps.texts.textsOf(collection, entry, link.chain)) all = this.#tryText(link, collection, entry, text, all);
    return all;
  }

  /** A value of the request, which other rules and other requests may have transformed and tested. */
  #tryEntry(link: CompiledLink, collection: string, entry: Entry, hits: Hit[] | null): Hit[] | null {
    const { chain } = link;
    const shared = this.#deps.texts.shared(collection, entry, chain);
    if (shared === null) return this.#tryText(link, collection, entry, this.#deps.texts.textOf(chain, entry.value), hits);
    if (shared.misses?.has(link) === true) return hits;
    const before = hits?.length ?? 0;
    const after = this.#tryText(link, collection, entry, shared.scan.value, hits);
    if (after === null || after.length === before) this.#remember(link, shared);
    return after;
  }

  #remember(link: CompiledLink, text: KnownText): void {
    if (link.isConstant && text.isShared) (text.misses ??= new Set()).add(link);
  }

  #tryText(link: CompiledLink, shown: string, entry: Entry | null, text: string, hits: Hit[] | null): Hit[] | null {
    const groups = link.operator!.test(text, this.#deps.variables.expand, this.capturesIn(link));
    if (link.isNegated ? groups !== null : groups === null) return hits;
    const hit = { name: entry === null ? shown : nameOf(shown, entry), value: text, groups: link.isNegated ? [text] : groups };
    if (hits === null) return [hit];
    hits.push(hit);
    return hits;
  }

  #count(link: CompiledLink, target: CompiledTarget): string {
    const { store, variables } = this.#deps;
    if (target.isStore && target.name !== null) return store.get(target.collection, target.name) === undefined ? "0" : "1";
    let count = 0;
    for (const entry of variables.entries(target.collection))
      if (meansName(target, entry.lower) && !this.#isExcluded(link, target.collection, entry)) count++;
    return String(count);
  }

  #isExcluded(link: CompiledLink, collection: string, { lower }: Entry): boolean {
    return this.#deps.exclusions.hasValue(this.#rule, link, collection, lower);
  }
}

/** As the targets of the rule name their collections: later links read the last hit. */
function inOrder(found: readonly Candidate[], targets: readonly CompiledTarget[]): readonly Candidate[] {
  let isMixed = false;
  for (let at = 1; at < found.length; at++) isMixed ||= found[at]!.collection !== found[0]!.collection;
  if (!isMixed) return found;
  return targets.flatMap(({ collection }, at) => (isFirst(targets, at) ? found.filter((one) => one.collection === collection) : []));
}

/** Several targets of one collection inspect each of its values once: with the first of them. */
function isFirst(targets: readonly CompiledTarget[], at: number): boolean {
  for (let before = 0; before < at; before++) if (isOfValues(targets[before]!, targets[at]!.collection)) return false;
  return true;
}

/** Whether a target of the collection at a position includes a value of this name. */
function isMeant(targets: readonly CompiledTarget[], at: number, lower: string): boolean {
  const { collection } = targets[at]!;
  for (let one = 0; one < targets.length; one++) {
    const target = targets[one]!;
    if (target.collection === collection && !target.isCount && meansName(target, lower)) return true;
  }
  return false;
}

const isOfValues = (target: CompiledTarget, collection: string): boolean =>
  target.collection === collection && !target.isCount && !(target.isStore && target.name !== null);

const NOTHING_EXCLUDED: Pick<CompiledLink, "excluded"> = { excluded: [] };
const nameOf = (collection: string, { name }: Entry): string => (name === "" ? collection : `${collection}:${name}`);
