import type { Groups } from "../patterns/pattern.ts";
import { charge } from "#rules/budget.ts";
import type { Control, EngineMode } from "../program/program.ts";
import type { Macro, MacroPart } from "../syntax/macro.ts";
import { integerOf } from "../operators/operators.ts";
import { type Collections, createCollections, type Entry } from "../transaction/collections.ts";
import type { TransactionRequest, TransactionResponse } from "../transaction/transaction.ts";
import { type CompiledLink, type CompiledRule, type CompiledTarget, compileTarget, meansName } from "./compiled-rule.ts";
import { type Candidate, Candidates } from "./candidates.ts";
import type { Transaction, TransactionOptions } from "./transaction.ts";
import type { CompiledProgram } from "./compiled-program.ts";
import type { Interruption, MatchedVariable, Outcome, RuleMatch } from "./outcome.ts";
import { createStore, type Store } from "./store.ts";
import { transform, transformEach } from "./transformation-chains.ts";

/** A value that a link matched. */
interface Hit {
  readonly name: string;
  readonly value: string;
  readonly groups: Groups | null;
}

const NO_HITS: readonly Hit[] = [];
const ALWAYS: readonly Hit[] = [{ name: "", value: "", groups: null }];
const GROUPS_MAX = 10;
const RULE_STEPS = 100;
const MATCHES_MAX = 10_000;

/** Where rules of the Core Rule Set add up what they find: those of CRS 3, and those of CRS 4. */
const SCORES = /^(?:(?:in|out)bound_)?anomaly_score_pl[1-4]$/;

/** The rules of a program at work on one transaction. */
export class Evaluation implements Transaction {
  readonly #compiled: CompiledProgram;
  readonly #request: TransactionRequest;
  readonly #collections: Collections;
  readonly #candidates: Candidates;
  readonly #store: Store = createStore();
  readonly #disabled: ReadonlySet<number>;
  readonly #removed = new Set<number>();
  readonly #removedTargets = new Map<number, CompiledTarget[]>();
  readonly #matches: RuleMatch[] = [];
  #interruption: Interruption | null = null;
  #engine: EngineMode;
  readonly #detectsOnly: boolean;
  readonly #hasTexts: boolean;
  /** What the rule under way has added to the scores. */
  #points = 0;
  #processor: string;
  #isBodyForced = false;
  /** Phases that an `allow` has ended: 5 still runs. */
  #endsBefore = 0;
  #current: CompiledRule | null = null;
  #matched: MatchedVariable[] = [];

  constructor(
    compiled: CompiledProgram,
    request: TransactionRequest,
    { disabled = new Set(), detectsOnly = false, hasTexts = true, variables = {} }: TransactionOptions,
  ) {
    this.#compiled = compiled;
    this.#request = request;
    this.#collections = createCollections(request);
    this.#candidates = new Candidates(compiled);
    this.#disabled = disabled;
    this.#detectsOnly = detectsOnly;
    this.#hasTexts = hasTexts;
    this.#engine = this.#modeOf(compiled.program.engine);
    this.#processor = request.bodyProcessor;
    for (const [name, value] of Object.entries(variables)) this.#store.set("TX", name, value);
  }

  requestHeaders(): Outcome {
    return this.#phase(1);
  }

  requestBody(): Outcome {
    this.#collections.setBody(this.#request.readBody(this.#processor), this.#processor, this.#isBodyForced);
    return this.#phase(2);
  }

  responseHeaders(response: TransactionResponse): Outcome {
    this.#collections.setResponse(response);
    return this.#phase(3);
  }

  responseBody(response: TransactionResponse): Outcome {
    this.#collections.setResponse(response);
    return this.#phase(4);
  }

  log(): Outcome {
    return this.#phase(5);
  }

  variable(name: string): string | undefined {
    return this.#store.get("TX", name);
  }

  #phase(phase: number): Outcome {
    const outcome: Outcome = { matches: this.#matches, interruption: this.#interruption };
    if (this.#engine === "off" || (phase !== 5 && (this.#interruption !== null || phase < this.#endsBefore))) return outcome;
    const rules = this.#compiled.phases[phase]!;
    const filter = this.#compiled.filters[phase]!;
    const candidates = filter === null ? null : this.#candidates.find(filter, this.#collections);
    for (let at = 0; at < rules.length; at++) {
      const isFiltered = filter !== null && filter.isFiltered[at] === 1;
      const found = isFiltered ? candidates![at] : undefined;
      if (isFiltered && found === undefined) continue;
      const rule = rules[at]!;
      const { id } = rule.rule;
      if (this.#removed.has(id) || this.#disabled.has(id)) continue;
      if (!this.#applies(rule, found)) continue;
      this.#report(rule, phase);
      if (rule.skipsTo > at + 1) at = rule.skipsTo - 1;
      if (this.#ends(rule, phase)) break;
    }
    return { matches: this.#matches, interruption: this.#interruption };
  }

  /** Whether every link of the rule matches; what each does happens as soon as it does. */
  #applies(rule: CompiledRule, found: readonly Candidate[] | undefined): boolean {
    this.#current = rule;
    this.#matched = [];
    this.#points = 0;
    for (const [place, link] of rule.links.entries()) {
      const hits = place === 0 && found !== undefined ? this.#hitsOf(link, found) : this.#hits(link);
      if (hits.length === 0) return false;
      for (const hit of hits) this.#act(link, hit);
      for (const control of link.link.controls) this.#control(control);
    }
    return true;
  }

  /** Of the values that the filter leaves. */
  #hitsOf(link: CompiledLink, found: readonly Candidate[]): readonly Hit[] {
    let hits: Hit[] | null = null;
    for (const { collection, entry, text } of found) {
      if (this.#isExcluded(link, collection, entry)) continue;
      const groups = link.operator!.test(text, this.expand, this.#capturesIn(link));
      if (groups !== null) (hits ??= []).push({ name: nameOf(collection, entry), value: text, groups });
    }
    return hits ?? NO_HITS;
  }

  #hits(link: CompiledLink): readonly Hit[] {
    if (link.operator === null) return ALWAYS;
    charge(RULE_STEPS);
    const hits: Hit[] = [];
    const seen = new Set<string>();
    for (const target of link.targets) {
      if (target.isCount) this.#try(link, `&${target.collection}`, String(this.#count(link, target)), hits);
      else if (target.isStore && target.name !== null) {
        const value = this.#store.get(target.collection, target.name);
        if (value !== undefined) this.#try(link, `${target.collection}:${target.name}`, value, hits);
      } else if (!seen.has(target.collection)) {
        // Several targets of one collection look at each of its values once.
        seen.add(target.collection);
        const targets = link.targets.filter(({ collection, isCount }) => collection === target.collection && !isCount);
        for (const entry of this.#entries(target.collection))
          if (targets.some((one) => meansName(one, entry.lower)) && !this.#isExcluded(link, target.collection, entry))
            this.#try(link, nameOf(target.collection, entry), entry.value, hits);
      }
    }
    return hits;
  }

  #try(link: CompiledLink, name: string, value: string, hits: Hit[]): void {
    const { chain, isNegated } = link;
    const texts = link.link.isMultiMatch ? transformEach(chain, value) : [transform(chain, value)];
    for (const text of texts) {
      const groups = link.operator!.test(text, this.expand, this.#capturesIn(link));
      if (isNegated ? groups === null : groups !== null) hits.push({ name, value: text, groups: isNegated ? [text] : groups });
    }
  }

  /** Without texts for a log, only what rules themselves read is captured. */
  #capturesIn(link: CompiledLink): boolean {
    return link.capturesMatter || (this.#hasTexts && link.link.captures);
  }

  #count(link: CompiledLink, target: CompiledTarget): number {
    if (target.isStore && target.name !== null) return this.#store.get(target.collection, target.name) === undefined ? 0 : 1;
    let count = 0;
    for (const entry of this.#entries(target.collection))
      if (meansName(target, entry.lower) && !this.#isExcluded(link, target.collection, entry)) count++;
    return count;
  }

  #isExcluded({ excluded }: CompiledLink, collection: string, { lower }: Entry): boolean {
    for (const target of excluded) if (target.collection === collection && meansName(target, lower)) return true;
    if (this.#removedTargets.size === 0) return false;
    const removed = this.#removedTargets.get(this.#current!.rule.id);
    return removed !== undefined && removed.some((target) => target.collection === collection && meansName(target, lower));
  }

  #entries(collection: string): readonly Entry[] {
    if (collection === "MATCHED_VARS") return this.#matched.map(matchedEntry);
    if (collection === "MATCHED_VARS_NAMES") return this.#matched.map((variable) => ({ ...matchedEntry(variable), value: variable.name }));
    const last = this.#matched.at(-1);
    if (collection === "MATCHED_VAR") return last === undefined ? [] : [{ name: "", lower: "", value: last.value }];
    if (collection === "MATCHED_VAR_NAME") return last === undefined ? [] : [{ name: "", lower: "", value: last.name }];
    if (collection === "RULE") return this.#ruleEntries();
    const stored = this.#store.entries(collection);
    return stored.length > 0 ? stored : this.#collections.get(collection);
  }

  #ruleEntries(): readonly Entry[] {
    const { rule } = this.#current!;
    return Object.entries({ id: String(rule.id), severity: String(rule.severity ?? ""), ver: rule.version }).map(([name, value]) => ({
      name,
      lower: name,
      value,
    }));
  }

  /** What a link does for each value that it matches. */
  #act(link: CompiledLink, { name, value, groups }: Hit): void {
    if (name !== "") this.#matched.push({ name, value });
    if (groups !== null && this.#capturesIn(link)) this.#capture(groups);
    for (const { collection, name: target, operation, value: given } of link.link.assignments) {
      const written = this.expand(target).toLowerCase();
      if (operation === "remove") this.#store.remove(collection, written);
      else if (operation === "set") this.#store.set(collection, written, this.expand(given));
      else this.#add(collection, written, integerOf(this.expand(given)) * (operation === "add" ? 1 : -1));
    }
  }

  #add(collection: string, name: string, amount: number): void {
    this.#store.add(collection, name, amount);
    if (collection === "TX" && SCORES.test(name)) this.#points += amount;
  }

  #modeOf(mode: EngineMode): EngineMode {
    return mode === "on" && this.#detectsOnly ? "detection" : mode;
  }

  #capture(groups: Groups): void {
    for (let number = 0; number < GROUPS_MAX; number++) {
      const text = groups[number];
      if (text === undefined) this.#store.remove("TX", String(number));
      else this.#store.set("TX", String(number), text);
    }
  }

  #control(control: Control): void {
    switch (control.kind) {
      case "remove-rules":
        for (const id of control.ids) this.#removed.add(id);
        return;
      case "remove-target": {
        const target = compileTarget(control.target);
        for (const id of control.ids) {
          const targets = this.#removedTargets.get(id);
          if (targets === undefined) this.#removedTargets.set(id, [target]);
          else targets.push(target);
        }
        return;
      }
      case "engine":
        this.#engine = this.#modeOf(control.mode);
        return;
      case "body-processor":
        this.#processor = control.processor;
        return;
      case "force-body":
        this.#isBodyForced = true;
    }
  }

  #report({ rule }: CompiledRule, phase: number): void {
    if (this.#matches.length >= MATCHES_MAX) return;
    this.#matches.push({
      id: rule.id,
      phase,
      message: rule.isLogged && this.#hasTexts ? this.expand(rule.message) : "",
      logdata: rule.isLogged && this.#hasTexts ? this.expand(rule.logdata) : "",
      severity: rule.severity,
      isLogged: rule.isLogged,
      points: this.#points,
      variables: this.#matched,
    });
  }

  /** Whether the phase ends with a rule that has applied. */
  #ends({ rule }: CompiledRule, phase: number): boolean {
    const { disruption } = rule;
    if (disruption === "pass" || disruption === "block") return this.#engine === "off";
    if (disruption === "allow-phase") return true;
    if (disruption === "allow" || disruption === "allow-request") {
      this.#endsBefore = disruption === "allow" ? 5 : phase < 3 ? 3 : 5;
      return true;
    }
    if (this.#engine !== "on" || phase === 5) return this.#engine === "off";
    this.#interruption = { ruleId: rule.id, disruption, status: rule.status, location: this.expand(rule.location) };
    return true;
  }

  readonly expand = (macro: Macro): string => {
    if (typeof macro === "string") return macro;
    let text = "";
    for (const part of macro) text += typeof part === "string" ? part : this.#variable(part);
    return text;
  };

  #variable({ collection, name }: Exclude<MacroPart, string>): string {
    const stored = this.#store.get(collection, name);
    if (stored !== undefined) return stored;
    return this.#entries(collection).find(({ lower }) => name === "" || lower === name)?.value ?? "";
  }
}

const nameOf = (collection: string, { name }: Entry): string => (name === "" ? collection : `${collection}:${name}`);
const matchedEntry = ({ name, value }: MatchedVariable): Entry => ({ name, lower: name.toLowerCase(), value });
