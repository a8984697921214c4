import { createOperator } from "../operators/operators.ts";
import type { OperatorTest } from "../operators/operator-test.ts";
import { namePattern } from "../patterns/tag-pattern.ts";
import type { Macro } from "../syntax/macro.ts";
import type { Link, Program, Rule, SecOperator, Step, Target } from "../program/program.ts";
import { isStore } from "../syntax/variable-table.ts";
import type { TransformationChain, TransformationChains } from "./transformation-chains.ts";

export interface CompiledSecRule {
  readonly rule: Rule;
  readonly links: readonly CompiledLink[];
  /** The step at which the phase continues if the rule matches and skips. */
  readonly skipsTo: number;
}

export interface CompiledLink {
  readonly link: Link;
  readonly targets: readonly CompiledTarget[];
  readonly excluded: readonly CompiledTarget[];
  readonly operator: OperatorTest | null;
  readonly isNegated: boolean;
  /** Whether the operator depends on nothing but the value. */
  readonly isConstant: boolean;
  /** Whether any part of the rule reads its captures, besides its log texts. */
  readonly capturesMatter: boolean;
  readonly chain: TransformationChain;
}

export interface CompiledTarget {
  readonly collection: string;
  readonly isCount: boolean;
  readonly isStore: boolean;
  /** In lower case; null if a pattern selects, or everything is selected. */
  readonly name: string | null;
  readonly fits: ((name: string) => boolean) | null;
  /** Its name in matches: `&ARGS`, `TX:score`. */
  readonly shown: string;
}

/** The rules of each phase; markers are only the targets of skips. */
export function compilePhases(program: Program, chains: TransformationChains): readonly (readonly CompiledSecRule[])[] {
  // The Core Rule Set has no rule that starts with another rule's captures; for such a rule all captures are stored.
  const areRead = program.phases.some((steps) => steps.some((step) => step.kind === "rule" && readsCaptures(step.rule.links[0]!)));
  return program.phases.map((steps) => compilePhase(steps, chains, areRead));
}

/** Whether a variable is one of those that `capture` writes. */
export const isCapture = (name: string): boolean => /^\d$/.test(name);

function readsCaptures({ targets, operator, assignments, captures }: Link): boolean {
  const inMacro = (macro: Macro): boolean =>
    typeof macro !== "string" && macro.some((part) => typeof part !== "string" && part.collection === "TX" && isCapture(part.name));
  if (targets.some(({ collection, selector }) => collection === "TX" && selector?.kind === "name" && isCapture(selector.name))) return true;
  if (operator !== null && inMacro(operator.argument)) return true;
  return !captures && assignments.some(({ name, value }) => inMacro(name) || inMacro(value));
}

/** Whether a link's captures are read in it or in a later one. */
function capturesMatter(links: readonly Link[], place: number, areRead: boolean): boolean {
  const own = { ...links[place]!, targets: [], operator: null, captures: false };
  return areRead || readsCaptures(own) || links.slice(place + 1).some(readsCaptures);
}

function compilePhase(steps: readonly Step[], chains: TransformationChains, areRead: boolean): readonly CompiledSecRule[] {
  const rules = steps.flatMap((step) => (step.kind === "rule" ? [step.rule] : []));
  const places = markerPlaces(steps);
  return rules.map((rule, place) => ({
    rule,
    links: rule.links.map((link, at) => compileLink(link, chains, capturesMatter(rule.links, at, areRead))),
    skipsTo:
      rule.skipAfter === null ? Math.min(rules.length, place + 1 + rule.skip) : skipTarget(places.get(rule.skipAfter), place, rules.length),
  }));
}

/** For each marker, and each rule by its id, the numbers of the rules that follow it. */
function markerPlaces(steps: readonly Step[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  let rules = 0;
  for (const step of steps) {
    const name = step.kind === "marker" ? step.name : String(step.rule.id);
    if (step.kind === "rule") rules++;
    const known = places.get(name);
    if (known === undefined) places.set(name, [rules]);
    else known.push(rules);
  }
  return places;
}

/** The next such position; the end of the phase if all are passed. */
const skipTarget = (places: readonly number[] | undefined, place: number, end: number): number =>
  places?.find((next) => next > place) ?? end;

const compileLink = (link: Link, chains: TransformationChains, capturesMatter: boolean): CompiledLink => ({
  link,
  capturesMatter: link.captures && capturesMatter,
  targets: link.targets.map(compileTarget),
  excluded: link.excluded.map(compileTarget),
  operator: link.operator === null ? null : operatorOf(link.operator),
  isNegated: link.operator?.isNegated ?? false,
  isConstant: typeof link.operator?.argument === "string",
  chain: chains.of(link.transformations),
});

/** Engines of several levels have the same rules, and share what their operators compile. */
function operatorOf(operator: SecOperator): OperatorTest {
  let known = operators.get(operator);
  if (known === undefined) operators.set(operator, (known = createOperator(operator)));
  return known;
}

const operators = new WeakMap<SecOperator, OperatorTest>();

export function compileTarget({ collection, isCount, selector }: Target): CompiledTarget {
  const of = (from: string, name: string | null, fits: CompiledTarget["fits"]): CompiledTarget => ({
    ...{ collection: from, isCount, isStore: collection !== "XML" && isStore(collection), name, fits },
    shown: isCount ? `&${from}` : name === null ? from : `${from}:${name}`,
  });
  if (collection === "XML") return of(xmlCollection(selector), null, null);
  if (selector === null) return of(collection, null, null);
  return selector.kind === "name" ? of(collection, selector.name, null) : of(collection, null, namePattern(`(?i)${selector.pattern}`));
}

/** Collection of an XPath: `/*` is all text, `//@*` all values of attributes; any other path reads all text. */
const xmlCollection = (selector: Target["selector"]): string =>
  selector?.kind === "name" && selector.name.includes("@") ? "XML://@*" : "XML:/*";

/** Whether a target means a value of a collection. */
export const meansName = ({ name, fits }: CompiledTarget, lower: string): boolean =>
  name === null ? fits === null || fits(lower) : name === lower;
