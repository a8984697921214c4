import { charge } from "#rules/budget.ts";
import { meansName } from "./compiled-rule.ts";
import { type ChainGroup, type FilteredRule, type FilterGroup, hasLiteral, type PhaseFilter, type RuleFilter } from "./phase-filter.ts";
import { maskOfText } from "../prefilter/byte-classes.ts";
import type { Scan } from "../prefilter/scanner.ts";
import type { Collections, Entry } from "../transaction/collections.ts";
import type { CompiledProgram } from "./compiled-program.ts";
import { createKnown, type KnownText, type RulePick, SHARED_BYTES_MAX } from "./shared-texts.ts";
import { applyStep, leaves, type Touches, type TransformationChain, type TransformationStep } from "./transformation-chains.ts";

/** A value that a rule may match. */
export interface Candidate {
  readonly collection: string;
  readonly entry: Entry;
  /** With the transformed value. */
  readonly pick: RulePick;
}

const { high: SPACE } = maskOfText(" ");

/** Whether a text stays unchanged, also if other transformations add spaces to it. */
const leavesWithSpaces = (touches: Touches, scan: Scan): boolean => (touches.high & SPACE) === 0 && leaves(touches, scan);

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
  find({ collections: filters, isFiltered }: PhaseFilter, collections: Collections): readonly (readonly Candidate[] | undefined)[] {
    const found: (Candidate[] | undefined)[] = new Array(isFiltered.length);
    for (const { collection, any, named } of filters) {
      for (const entry of collections.get(collection)) {
        const group = named.size === 0 ? undefined : named.get(entry.lower);
        if (any === null && group === undefined) continue;
        const known = this.#knownOf(collection, entry);
        if (any !== null) this.#collect(any, known, collection, entry, found);
        if (group !== undefined) this.#collect(group, known, collection, entry, found);
      }
    }
    return found;
  }

  #collect(group: FilterGroup, known: KnownText, collection: string, entry: Entry, found: (Candidate[] | undefined)[]): void {
    const picks = (known.picks[group.number] ??= this.#pick(group, known));
    for (let i = 0; i < picks.length; i++) {
      const pick = picks[i]!;
      if (pick.isMiss) continue;
      const { place, targets } = pick.rule;
      if (targets !== null && !targets.some((target) => meansName(target, entry.lower))) continue;
      const candidate = { collection, entry, pick };
      const candidates = found[place];
      if (candidates === undefined) found[place] = [candidate];
      else candidates.push(candidate);
    }
  }

  /** The result of a chain for a value that many requests have; null for a value of this request alone. */
  shared(collection: string, entry: Entry, chain: TransformationChain): KnownText | null {
    return entry.value.length <= SHARED_BYTES_MAX && isShared(collection, entry)
      ? this.#transformed(this.#ofShared(entry.value), chain)
      : null;
  }

  /** The result of a chain, from the results for other rules as far as they go. */
  textOf({ touches, steps }: TransformationChain, value: string): string {
    let known = this.#known.get(value);
    if (known !== undefined && leaves(touches, known.scan)) return value;
    let text = value;
    for (const step of steps) {
      if (known !== undefined && leaves(step.touches, known.scan)) continue;
      known = known?.transformed[step.number];
      text = known === undefined ? applyStep(step, text) : known.scan.value;
    }
    return text;
  }

  /** A value of which rules were picked, and its results after each transformation that changes it. */
  textsOf(collection: string, entry: Entry, { steps }: TransformationChain): readonly string[] {
    let known = this.#knownOf(collection, entry);
    const texts = [entry.value];
    for (const step of steps) {
      const next = this.#next(step, known);
      if (next !== known) texts.push(next.scan.value);
      known = next;
    }
    return texts;
  }

  #pick({ chains, touches, all, changing }: FilterGroup, known: KnownText): readonly RulePick[] {
    const picks: RulePick[] = [];
    if (leaves(touches, known.scan)) addPicks(all, known.scan, picks);
    else for (const one of chains) this.#addOfChain(one, known, picks);
    for (const one of changing) this.#addOfChain(one, known, picks);
    return picks.length === 0 ? NO_PICKS : picks;
  }

  #addOfChain({ chain, isMulti, filter }: ChainGroup, known: KnownText, picks: RulePick[]): void {
    // A transformation is not worth its time if no rule could match the result.
    if (leavesWithSpaces(chain.widens, known.scan) && filter.byBytes(known.scan.low, known.scan.high | SPACE).length === 0) return;
    if (!isMulti) return addPicks(filter, this.#transformed(known, chain).scan, picks);
    const before = picks.length;
    let last = known;
    addPicks(filter, last.scan, picks);
    for (const step of chain.steps) {
      const next = this.#next(step, last);
      if (next !== last) addPicks(filter, next.scan, picks, before);
      last = next;
    }
    if (known.isShared) last.isShared = true;
  }

  #knownOf(collection: string, entry: Entry): KnownText {
    return isShared(collection, entry) ? this.#ofShared(entry.value) : this.#of(entry.value);
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
    for (const step of steps) last = this.#next(step, last);
    if (known.isShared) last.isShared = true;
    return last;
  }

  /** The result of a transformation; the same object if it changes nothing. */
  #next(step: TransformationStep, last: KnownText): KnownText {
    if (leaves(step.touches, last.scan)) return last;
    const known = last.transformed[step.number];
    if (known !== undefined) return known;
    const text = applyStep(step, last.scan.value);
    return (last.transformed[step.number] = text === last.scan.value ? last : this.#after(step, last, text));
  }

  /** Literals and classes ignore case, so the lower-case text needs no other scan. */
  #after({ keepsScan }: TransformationStep, before: KnownText, text: string): KnownText {
    if (!keepsScan) return this.#of(text);
    let known = this.#known.get(text);
    if (known === undefined) this.#known.set(text, (known = createKnown({ ...before.scan, value: text, hasCapitals: false })));
    return known;
  }
}

/** `since`: rules picked from there on are not picked again. */
function addPicks(filter: RuleFilter, scan: Scan, picks: RulePick[], since = picks.length): void {
  const rules = filter.byBytes(scan.low, scan.high);
  const end = picks.length;
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]!;
    if (hasLiteral(rule, scan) && !isPicked(rule, picks, since, end)) picks.push({ rule, text: scan.value, isMiss: false });
  }
}

function isPicked(rule: FilteredRule, picks: readonly RulePick[], since: number, end: number): boolean {
  for (let i = since; i < end; i++) if (picks[i]!.rule === rule) return true;
  return false;
}
