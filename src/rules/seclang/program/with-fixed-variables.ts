import type { Macro } from "../syntax/macro.ts";
import { type Link, type Program, type Rule, rulesOf, type Step, type Target } from "./program.ts";

/** Contents of `tx` before the first rule, by names in lower case. */
export type FixedVariables = Readonly<Record<string, string>>;

/**
 * The program without what variables that keep their values decide: rules that only skip others by them, and what these skip. Rules that skip
 * by a level of paranoia are half of those of the Core Rule Set that no prefilter excludes.
 */
export function withFixedVariables(program: Program, variables: FixedVariables): Program {
  const fixed: Known = new Map<string, string | null>(Object.entries(variables).filter(([name]) => !isChanged(program, name)));
  for (const name of readNames(program)) if (!Object.hasOwn(variables, name) && !isWritten(program, name)) fixed.set(name, null);
  return { ...program, phases: program.phases.map((steps) => withoutDecided(steps, fixed)) };
}

/** Values of variables by their names; null if there is none, whatever the request is. */
type Known = Map<string, string | null>;

/** Names of `tx` that rules read. */
const readNames = (program: Program): ReadonlySet<string> =>
  new Set(rulesOf(program).flatMap(({ links }) => links.flatMap(({ targets }) => targets.flatMap((target) => nameOf(target) ?? []))));

/** Whether any rule may write the variable. Captures have digits as names. */
const isWritten = (program: Program, name: string): boolean =>
  /^\d$/.test(name) || rulesOf(program).some(({ links }) => links.some((link) => writes(link, name)));

/** Whether a rule may write the variable although it is there. */
function isChanged({ phases }: Program, name: string): boolean {
  return phases.some((steps) => steps.some((step) => step.kind === "rule" && mayWrite(step.rule, name)));
}

function mayWrite({ links }: Rule, name: string): boolean {
  if (links[0] !== undefined && isOnlyWithout(links[0], name)) return false;
  return links.some((link) => writes(link, name));
}

const writes = ({ assignments }: Link, name: string): boolean =>
  assignments.some(({ collection, name: written }) => collection === "TX" && mayBe(written, name));

/** A name with variables in it may be any that begins as it does. */
export const mayBe = (written: Macro, name: string): boolean =>
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

function withoutDecided(steps: readonly Step[], fixed: Known): readonly Step[] {
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
function decided({ links, disruption, isLogged }: Rule, fixed: Known): boolean | null {
  const [link, ...more] = links;
  if (link === undefined || more.length > 0 || disruption !== "pass" || isLogged) return null;
  const { targets, excluded, operator, transformations, assignments, controls, captures } = link;
  const isPlain = assignments.length + controls.length + excluded.length + transformations.length === 0 && !captures;
  if (!isPlain || operator === null || typeof operator.argument !== "string") return null;
  const compare = COMPARISONS[operator.name];
  const values = targets.map((target) => valueOf(target, fixed));
  if (compare === undefined || values.includes(undefined)) return null;
  return values.some((value) => typeof value === "string" && compare(Number(value), Number(operator.argument)) !== operator.isNegated);
}

/** The value that a target means; null if it means none, undefined where that is not known. */
function valueOf(target: Target, fixed: Known): string | null | undefined {
  const name = nameOf(target);
  const value = name === null ? undefined : fixed.get(name);
  return target.isCount && value !== undefined ? (value === null ? "0" : "1") : value;
}

const COMPARISONS: Readonly<Record<string, (value: number, argument: number) => boolean>> = {
  eq: (value, argument) => value === argument,
  ge: (value, argument) => value >= argument,
  gt: (value, argument) => value > argument,
  le: (value, argument) => value <= argument,
  lt: (value, argument) => value < argument,
};
