import type { Link, Program, Rule, Step, Target } from "./program.ts";

/** Contents of `tx` before the first rule, by names in lower case. */
export type FixedVariables = Readonly<Record<string, string>>;

/**
 * The program without what variables that keep their values decide: rules that only skip others by them, and what these skip. Rules that skip
 * by a level of paranoia are half of those of the Core Rule Set that no prefilter excludes.
 */
export function withFixedVariables(program: Program, variables: FixedVariables): Program {
  const fixed = new Map(Object.entries(variables).filter(([name]) => !isChanged(program, name)));
  return { ...program, phases: program.phases.map((steps) => withoutDecided(steps, fixed)) };
}

/** Whether a rule may write the variable although it is there. */
function isChanged({ phases }: Program, name: string): boolean {
  return phases.some((steps) => steps.some((step) => step.kind === "rule" && mayWrite(step.rule, name)));
}

function mayWrite({ links }: Rule, name: string): boolean {
  if (links[0] !== undefined && isOnlyWithout(links[0], name)) return false;
  return links.some(({ assignments }) => assignments.some(({ collection, name: written }) => collection === "TX" && mayBe(written, name)));
}

/** A name with variables in it may be any that begins as it does. */
const mayBe = (written: Link["assignments"][number]["name"], name: string): boolean =>
  typeof written === "string"
    ? written.toLowerCase() === name
    : typeof written[0] !== "string" || name.startsWith(written[0].toLowerCase());

/** Whether a link applies only where the variable is not there: `&TX:name "@eq 0"`. */
function isOnlyWithout({ targets, operator }: Link, name: string): boolean {
  const [target] = targets;
  const isAbsent = operator?.name === "eq" && !operator.isNegated && operator.argument === "0";
  return isAbsent && targets.length === 1 && target!.isCount && nameOf(target!) === name;
}

const nameOf = ({ collection, selector }: Target): string | null =>
  collection === "TX" && selector?.kind === "name" ? selector.name.toLowerCase() : null;

function withoutDecided(steps: readonly Step[], fixed: ReadonlyMap<string, string>): readonly Step[] {
  // Rules that are skipped by their number must stay.
  if (steps.some((step) => step.kind === "rule" && step.rule.skip > 0)) return steps;
  const ends = steps.map((_, at) => endOfSkip(steps, at));
  const isTarget = new Set(ends);
  const kept: Step[] = [];
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at]!;
    const applies = step.kind === "rule" && !isTarget.has(at) ? decided(step.rule, fixed) : null;
    if (applies === null || (applies && isEntered(ends, at))) kept.push(step);
    else if (applies && ends[at] !== -1) at = ends[at]! - 1;
  }
  return kept;
}

/** The step at which a phase goes on where the rule at a place applies; -1 if it skips nothing. */
function endOfSkip(steps: readonly Step[], at: number): number {
  const step = steps[at]!;
  if (step.kind === "marker" || step.rule.skipAfter === null) return -1;
  const wanted = step.rule.skipAfter;
  const end = steps.findIndex((next, place) => place > at && (next.kind === "marker" ? next.name : String(next.rule.id)) === wanted);
  return end === -1 ? steps.length : end;
}

/** Whether an earlier rule leads into the middle of what a rule skips. */
function isEntered(ends: readonly number[], at: number): boolean {
  return ends.some((end, from) => from < at && end > at && end < ends[at]!);
}

/** Whether a rule that does nothing but skip applies; null where that is not known. */
function decided({ links, disruption, isLogged }: Rule, fixed: ReadonlyMap<string, string>): boolean | null {
  const [link, ...more] = links;
  if (link === undefined || more.length > 0 || disruption !== "pass" || isLogged) return null;
  const { targets, excluded, operator, transformations, assignments, controls, captures } = link;
  const isPlain = assignments.length + controls.length + excluded.length + transformations.length === 0 && !captures;
  const [target] = targets;
  if (!isPlain || targets.length !== 1 || target!.isCount || operator === null || typeof operator.argument !== "string") return null;
  const value = fixed.get(nameOf(target!) ?? "");
  const compare = COMPARISONS[operator.name];
  if (value === undefined || compare === undefined) return null;
  return compare(Number(value), Number(operator.argument)) !== operator.isNegated;
}

const COMPARISONS: Readonly<Record<string, (value: number, argument: number) => boolean>> = {
  eq: (value, argument) => value === argument,
  ge: (value, argument) => value >= argument,
  gt: (value, argument) => value > argument,
  le: (value, argument) => value <= argument,
  lt: (value, argument) => value < argument,
};
