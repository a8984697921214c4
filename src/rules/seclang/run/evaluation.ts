import type { Groups } from "../patterns/pattern.ts";
import type { Control, EngineMode } from "../program/program.ts";
import { integerOf } from "../operators/operators.ts";
import { type Collections, createCollections } from "../transaction/collections.ts";
import type { TransactionRequest, TransactionResponse } from "../transaction/transaction.ts";
import { type CompiledLink, type CompiledSecRule, compileTarget } from "./compiled-rule.ts";
import { type Candidate, Candidates } from "./candidates.ts";
import type { Transaction, TransactionOptions } from "./transaction.ts";
import type { CompiledProgram } from "./compiled-program.ts";
import { Exclusions } from "./exclusions.ts";
import { type Hit, LinkHits } from "./link-hits.ts";
import type { Interruption, Outcome, RuleMatch } from "./outcome.ts";
import { changesPrelude, isFollowed, type Prelude } from "./prelude.ts";
import { createStore, type Store } from "./store.ts";
import { Variables } from "./variables.ts";

const GROUPS_MAX = 10;
const MATCHES_MAX = 10_000;

/** Names of the scores of the Core Rule Set, for requests and for responses: those of CRS 3, and those of CRS 4. */
const SCORES = /^(?:inbound_)?anomaly_score_pl[1-4]$/;
// Rules for responses of CRS 3 add to both.
const RESPONSE_SCORES = /^outbound_anomaly_score_pl[1-4]$/;

const NO_VARIABLES: Readonly<Record<string, string>> = {};

/** The results of the first rules; null if one of them ends or skips. They read nothing of the request. */
function preludeOf(compiled: CompiledProgram, request: TransactionRequest, variables: Readonly<Record<string, string>>): Prelude | null {
  const known = compiled.preludes.get(variables);
  if (known !== undefined) return known;
  const rules = compiled.prelude;
  const alone = new Evaluation({ ...compiled, phases: [[], rules], filters: [null, null], prelude: [] }, request, {
    hasTexts: false,
    variables,
  });
  const { matches } = alone.requestHeaders();
  const ended =
    compiled.program.engine === "off" || rules.some(({ rule }) => !isFollowed(rule) && matches.some(({ id }) => id === rule.id));
  const prelude = ended ? null : alone.preludeWith(compiled.settled);
  compiled.preludes.set(variables, prelude);
  return prelude;
}

/** The rules of a program at work on one transaction. */
export class Evaluation implements Transaction {
  readonly #compiled: CompiledProgram;
  readonly #request: TransactionRequest;
  readonly #collections: Collections;
  readonly #candidates: Candidates;
  readonly #store: Store;
  readonly #variables: Variables;
  readonly #exclusions: Exclusions;
  readonly #hits: LinkHits;
  readonly #matches: RuleMatch[];
  readonly #prelude: Prelude | null;
  #interruption: Interruption | null = null;
  #engine: EngineMode;
  readonly #detectsOnly: boolean;
  readonly #hasTexts: boolean;
  /** Points that the current rule has added to the scores. */
  #points = 0;
  #scores = SCORES;
  #processor: string;
  #isBodyForced = false;
  /** Phases that an `allow` has ended: 5 still runs. */
  #endsBefore = 0;
  /** Number of values that the first link of the current rule has matched. */
  #entries = 0;

  constructor(
    compiled: CompiledProgram,
    request: TransactionRequest,
    { disabled = new Set(), excluded = [], detectsOnly = false, hasTexts = true, variables = NO_VARIABLES }: TransactionOptions,
  ) {
    const begins = !hasTexts && compiled.prelude.length > 0 && !changesPrelude(compiled.prelude, disabled, excluded);
    this.#prelude = begins ? preludeOf(compiled, request, variables) : null;
    this.#store = this.#prelude?.store.copy() ?? createStore();
    this.#matches = [...(this.#prelude?.matches ?? [])];
    this.#compiled = compiled;
    this.#request = request;
    this.#collections = createCollections(request);
    this.#candidates = new Candidates(compiled);
    this.#variables = new Variables(this.#collections, this.#store);
    this.#exclusions = new Exclusions(disabled, excluded);
    this.#hits = new LinkHits({
      variables: this.#variables,
      store: this.#store,
      exclusions: this.#exclusions,
      texts: this.#candidates,
      hasTexts,
    });
    this.#detectsOnly = detectsOnly;
    this.#hasTexts = hasTexts;
    this.#engine = this.#modeOf(compiled.program.engine);
    this.#processor = request.bodyProcessor;
    if (this.#prelude === null) for (const [name, value] of Object.entries(variables)) this.#store.set("TX", name, value);
  }

  /** Results of a transaction that has the first rules alone. `settled`: rules whose first link has the same result from then on. */
  preludeWith(settled: CompiledProgram["settled"]): Prelude {
    const isIdle = ({ links }: CompiledSecRule): boolean => this.#hits.of(links[0]!).length === 0;
    return { store: this.#store, matches: this.#matches, idle: settled.map((rules) => new Set(rules.filter(isIdle))) };
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
    this.#scores = phase < 3 ? SCORES : RESPONSE_SCORES;
    const rules = this.#compiled.phases[phase]!;
    const filter = this.#compiled.filters[phase]!;
    const candidates = filter === null ? null : this.#candidates.find(filter, this.#collections);
    const idle = this.#prelude?.idle[phase];
    const first = phase === 1 && this.#prelude !== null ? this.#compiled.prelude.length : 0;
    for (let at = first; at < rules.length; at++) {
      const isFiltered = filter !== null && filter.isFiltered[at] === 1;
      const found = isFiltered ? candidates![at] : undefined;
      if (isFiltered && found === undefined) continue;
      const rule = rules[at]!;
      if (idle !== undefined && idle.has(rule)) continue;
      if (this.#exclusions.hasRule(rule.rule.id)) continue;
      if (!this.#applies(rule, found)) continue;
      this.#report(rule, phase);
      if (rule.skipsTo > at + 1) at = rule.skipsTo - 1;
      if (this.#ends(rule, phase)) break;
    }
    return { matches: this.#matches, interruption: this.#interruption };
  }

  /** Whether every link of the rule matches; each link's actions run as soon as it matches. */
  #applies(rule: CompiledSecRule, found: readonly Candidate[] | undefined): boolean {
    this.#variables.beginRule(rule.rule);
    this.#hits.beginRule(rule.rule.id);
    this.#points = 0;
    const { links } = rule;
    for (let place = 0; place < links.length; place++) {
      const link = links[place]!;
      const hits = place === 0 && found !== undefined ? this.#hits.ofCandidates(link, found) : this.#hits.of(link);
      if (hits.length === 0) return false;
      if (place === 0) this.#entries = hits.length;
      for (const hit of hits) this.#act(link, hit);
      for (const control of link.link.controls) this.#control(control);
    }
    return true;
  }

  /** Runs the actions of a link for each matching value. */
  #act(link: CompiledLink, { name, value, groups }: Hit): void {
    if (name !== "") this.#variables.addMatched({ name, value });
    if (groups !== null && this.#hits.capturesIn(link)) this.#capture(groups);
    for (const { collection, name: target, operation, value: given } of link.link.assignments) {
      const written = this.#variables.expand(target).toLowerCase();
      if (operation === "remove") this.#store.remove(collection, written);
      else if (operation === "set") this.#store.set(collection, written, this.#variables.expand(given));
      else this.#add(collection, written, integerOf(this.#variables.expand(given)) * (operation === "add" ? 1 : -1));
    }
  }

  #add(collection: string, name: string, amount: number): void {
    this.#store.add(collection, name, amount);
    if (collection === "TX" && this.#scores.test(name)) this.#points += amount;
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
        return this.#exclusions.removeRules(control.ids);
      case "remove-target":
        return this.#exclusions.removeTargets(control.ids, compileTarget(control.target));
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

  #report({ rule }: CompiledSecRule, phase: number): void {
    if (this.#matches.length >= MATCHES_MAX) return;
    this.#matches.push({
      id: rule.id,
      phase,
      message: rule.isLogged && this.#hasTexts ? this.#variables.expand(rule.message) : "",
      logdata: rule.isLogged && this.#hasTexts ? this.#variables.expand(rule.logdata) : "",
      severity: rule.severity,
      isLogged: rule.isLogged,
      points: this.#points,
      variables: this.#variables.matched,
      entries: this.#entries,
    });
  }

  /** Whether the phase ends with a rule that has applied. */
  #ends({ rule }: CompiledSecRule, phase: number): boolean {
    const { disruption } = rule;
    if (disruption === "pass" || disruption === "block") return this.#engine === "off";
    if (disruption === "allow-phase") return true;
    if (disruption === "allow" || disruption === "allow-request") {
      this.#endsBefore = disruption === "allow" ? 5 : phase < 3 ? 3 : 5;
      return true;
    }
    if (this.#engine !== "on" || phase === 5) return this.#engine === "off";
    this.#interruption = { ruleId: rule.id, disruption, status: rule.status, location: this.#variables.expand(rule.location) };
    return true;
  }
}
