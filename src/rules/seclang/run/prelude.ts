import type { Assignment, Link, Rule, Target } from "#rules/seclang/program/program.ts";
import type { Macro } from "../syntax/macro.ts";
import { mayBe } from "../program/with-fixed-variables.ts";
import { type CompiledSecRule, type CompiledTarget, isCapture } from "./compiled-rule.ts";
import type { RuleMatch } from "./outcome.ts";
import type { Store } from "./store.ts";
import type { ExcludedTarget } from "./transaction.ts";

/** Results of the first rules of phase 1, which are the same for every request: the Core Rule Set begins with some thirty that set its variables. */
export interface Prelude {
  readonly store: Store;
  readonly matches: readonly RuleMatch[];
  /** By phase, the rules that cannot apply after it: what they ask of variables stays false. */
  readonly idle: readonly ReadonlySet<CompiledSecRule>[];
}

/** The first rules, as long as they read and write nothing but variables, none of which is the request's. */
export function preludeRules(rules: readonly CompiledSecRule[]): readonly CompiledSecRule[] {
  const end = rules.findIndex(({ rule }) => !rule.links.every(isOfVariables));
  return end === -1 ? rules : rules.slice(0, end);
}

/** By phase, the rules after the first ones that begin with a question about variables that only the first ones write. */
export function settledRules(
  phases: readonly (readonly CompiledSecRule[])[],
  first: readonly CompiledSecRule[],
): readonly (readonly CompiledSecRule[])[] {
  const later = phases.map((rules, phase) => (phase === 1 ? rules.slice(first.length) : rules));
  const assignments = later.flat().flatMap(({ links }) => links.flatMap(({ link }) => link.assignments));
  const isSettled = ({ collection, isStore, name }: CompiledTarget): boolean =>
    isStore && name !== null && !isCapture(name) && !assignments.some((one) => one.collection === collection && mayBe(one.name, name));
  return later.map((rules) =>
    rules.filter(({ links: [link] }) => link !== undefined && link.operator !== null && link.isConstant && link.targets.every(isSettled)),
  );
}

/** Whether a rule that applies lets the next one follow. */
export const isFollowed = ({ disruption, skip, skipAfter }: Rule): boolean =>
  (disruption === "pass" || disruption === "block") && skip === 0 && skipAfter === null;

/** Whether a transaction excludes any of these rules, or values from them. */
export function changesPrelude(
  rules: readonly CompiledSecRule[],
  disabled: ReadonlySet<number>,
  excluded: readonly ExcludedTarget[],
): boolean {
  if (disabled.size + excluded.length === 0) return false;
  return rules.some(({ rule: { id } }) => disabled.has(id) || excluded.some(({ ids }) => ids.includes(id)));
}

const isOfVariables = ({ targets, excluded, operator, captures, controls, assignments }: Link): boolean =>
  targets.every(isVariable) &&
  excluded.length + controls.length === 0 &&
  !captures &&
  (operator === null || isMacroOfVariables(operator.argument)) &&
  assignments.every(isAssignmentOfVariables);

const isVariable = ({ collection, selector }: Target): boolean => collection === "TX" && selector?.kind === "name";
const isAssignmentOfVariables = ({ name, value }: Assignment): boolean => isMacroOfVariables(name) && isMacroOfVariables(value);
const isMacroOfVariables = (macro: Macro): boolean =>
  typeof macro === "string" || macro.every((part) => typeof part === "string" || part.collection === "TX");
