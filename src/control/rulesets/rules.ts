import { PlatformError } from "#kernel/errors/errors.ts";
import { mapInTicks } from "#kernel/in-ticks.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Position, Rule, RuleWrite } from "#model/rulesets/ruleset.ts";
import { completeParameters } from "#rules/actions/actions.ts";

/** A stored rule: `action_parameters`, `expression` and `ref` always have a value. */
export interface StoredRule extends Omit<Rule, "action_parameters" | "expression" | "ref"> {
  readonly action_parameters: Readonly<Record<string, unknown>>;
  readonly expression: string;
  readonly ref: string;
}

/** The time of a write, and the assertion that its rules were checked. */
export interface RuleBuild {
  readonly now: string;
  assertChecked(write: RuleWrite): void;
}

/** Of rules with the longest expressions, some milliseconds. */
export const RULES_AT_ONCE = 50;

/**
 * The rules after an update. A rule with an existing `id`, or else an existing `ref`, replaces that rule, and gets a new
 * version only if it changed.
 */
export function replaceRules(writes: readonly RuleWrite[], before: readonly StoredRule[], build: RuleBuild): Promise<StoredRule[]> {
  const unclaimed = new Map(before.map((rule) => [rule.id, rule]));
  const byRef = new Map(before.map(({ ref, id }) => [ref, id]));
  return mapInTicks(writes, RULES_AT_ONCE, (write) => {
    const existing = unclaimed.get(write.id ?? "") ?? unclaimed.get(byRef.get(write.ref ?? "") ?? "");
    if (existing) unclaimed.delete(existing.id);
    return buildRule(write, existing, build);
  });
}

/** Creates a rule from a client's write; `existing` keeps its id, its ref and, if nothing changed, its version. */
export function buildRule(write: RuleWrite, existing: StoredRule | undefined, build: RuleBuild): StoredRule {
  build.assertChecked(write);
  const id = existing?.id ?? newId();
  const action = write.action ?? "";
  const logging = write.logging ?? loggingOf(action);
  const fields = {
    action,
    action_parameters: completeParameters(action, write.action_parameters ?? {}),
    expression: write.expression ?? "",
    description: write.description ?? "",
    ref: write.ref !== undefined && write.ref !== "" ? write.ref : (existing?.ref ?? id),
    enabled: write.enabled ?? true,
    ...(logging === undefined ? {} : { logging }),
    ...((write.ratelimit ?? null) === null ? {} : { ratelimit: write.ratelimit as Readonly<Record<string, unknown>> }),
  };
  if (existing && isSame(existing, fields)) return existing;
  return { id, version: String(Number(existing?.version ?? "0") + 1), ...fields, last_updated: build.now };
}

/** The default of `logging`: exceptions are logged. */
export const loggingOf = (action: string): Rule["logging"] => (action === "skip" ? { enabled: true } : undefined);

function isSame(existing: StoredRule, fields: object): boolean {
  const { id: _, version: __, last_updated: ___, ...kept } = existing;
  // Older versions stored rules without it.
  const logging = kept.logging ?? loggingOf(kept.action);
  return canonical(logging === undefined ? kept : { ...kept, logging }) === canonical(fields);
}

/** JSON with sorted keys, so that the order of keys in a request does not create a new version. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

export function checkRefs(rules: readonly StoredRule[]): void {
  const seen = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    if (seen.has(rule.ref)) throw invalid(`the ref ${JSON.stringify(rule.ref)} is used twice`, `/rules/${index}/ref`);
    seen.add(rule.ref);
  }
}

/** Inserts a rule at its position; without one, at the end (SPEC 4.5). */
export function placeRule(rules: readonly StoredRule[], rule: StoredRule, position: Position | undefined): StoredRule[] {
  return rules.toSpliced(placeOf(rules, position), 0, rule);
}

function placeOf(rules: readonly StoredRule[], position: Position | undefined): number {
  if (position === undefined) return rules.length;
  const { before, after, index } = position;
  if ([before, after, index].filter((value) => value !== undefined).length !== 1)
    throw invalid("position needs exactly one of before, after and index", "/position");
  if (index !== undefined) {
    if (index > rules.length + 1) throw invalid(`index must be from 1 to ${rules.length + 1}`, "/position/index");
    return index - 1;
  }
  if (before !== undefined) return before === "" ? 0 : indexOf(rules, before, "/position/before");
  return after === "" || after === undefined ? rules.length : indexOf(rules, after, "/position/after") + 1;
}

function indexOf(rules: readonly StoredRule[], id: string, source: string): number {
  const index = rules.findIndex((rule) => rule.id === id);
  if (index < 0) throw invalid(`no other rule has the id ${JSON.stringify(id)}`, source);
  return index;
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("ruleset_invalid", { message, source });
