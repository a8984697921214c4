import type { PartExceptions } from "#rules/managed/excepted-parts.ts";
import type { Matched } from "#rules/managed/matched-part.ts";
import type { Spending } from "#rules/budget.ts";
import type { LaterCount } from "#rules/rate-limit/rate-limit.ts";
import type { SkipList } from "./compiled-rule.ts";

/** State of one request across phases. */
export interface RuleRun extends Spending {
  /** Skips by earlier rules; null without any, which is nearly always. */
  skips: Skips | null;
  /** Counts that wait for the response. */
  readonly later: LaterCount[];
  /** Records the result of each rule; null if it is not wanted. */
  readonly trace: Trace | null;
  /**
   * Whether the visitor has already passed a challenge: rules with a challenge are then skipped. Absent if no visitor
   * can have passed one.
   */
  readonly isCleared?: boolean;
}

export interface Skips {
  readonly phases: Map<string, SkippedBy>;
  readonly rulesets: Map<string, SkippedBy>;
  /** Rules by their ruleset. */
  readonly rules: Map<string, Map<string, SkippedBy>>;
  /** Parts of the request that rules ignore, by the rules' ruleset. */
  readonly parts: Map<string, PartExceptions>;
}

/** The id of the rule that skipped. */
export type SkippedBy = string;

/** One rule of one phase, in the order of evaluation. */
export interface TraceStep {
  readonly phase: string;
  readonly ruleset_id: string;
  readonly ruleset_version: string;
  readonly rule_id: string;
  readonly action: string;
  readonly result: "applied" | "not_matched" | "below_limit" | "below_threshold" | "skipped" | "exhausted";
  /** The rule that executed the ruleset; empty in entry points. */
  readonly deployed_by: string;
  /** The id of the rule that skipped it. */
  readonly skipped_by?: string;
  /** The match of a managed rule. */
  readonly matched?: Matched;
  /** The ruleset's score after the rule. */
  readonly score?: number;
}

export interface Trace {
  readonly steps: TraceStep[];
  /** Whether there were more steps than stored. */
  truncated: boolean;
}

const TRACE_STEPS_MAX = 10_000;

export const createRun = (): RuleRun => ({ skips: null, later: [], trace: null, steps: 0, exhausted: null });

export const createTracedRun = (): RuleRun & { readonly trace: Trace } => ({
  skips: null,
  later: [],
  steps: 0,
  exhausted: null,
  trace: { steps: [], truncated: false },
});

export function note(trace: Trace, step: TraceStep): void {
  if (trace.steps.length < TRACE_STEPS_MAX) trace.steps.push(step);
  else trace.truncated = true;
}

/** Adds a rule's skips to the existing ones. */
export function addSkips(run: RuleRun, list: SkipList, ruleId: string): void {
  const skips = (run.skips ??= { phases: new Map(), rulesets: new Map(), rules: new Map(), parts: new Map() });
  for (const kind of ["phases", "rulesets"] as const) for (const name of list[kind]) skips[kind].set(name, ruleId);
  for (const [rulesetId, ids] of list.rules) {
    const rules = skips.rules.get(rulesetId) ?? new Map<string, SkippedBy>();
    for (const id of ids) rules.set(id, ruleId);
    skips.rules.set(rulesetId, rules);
  }
  for (const [rulesetId, added] of list.parts) {
    const known = skips.parts.get(rulesetId);
    skips.parts.set(rulesetId, known === undefined ? added : joined(known, added));
  }
}

const joined = (a: PartExceptions, b: PartExceptions): PartExceptions => ({ key: `${a.key}\n${b.key}`, parts: [...a.parts, ...b.parts] });
