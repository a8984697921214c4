import type { PartExceptions } from "#rules/managed/excepted-parts.ts";
import type { Matched } from "#rules/managed/matched-part.ts";
import type { Spending } from "#rules/budget.ts";
import type { LaterCount } from "#rules/rate-limit/rate-limit.ts";
import type { SkipList } from "./compiled-rule.ts";

/** What one request carries from phase to phase. */
export interface RuleRun extends Spending {
  /** What rules before have skipped; null where none has, which is nearly always. */
  skips: Skips | null;
  /** What limits count once the response is there. */
  readonly later: LaterCount[];
  /** Takes down what each rule did; null where nobody wants to know. */
  readonly trace: Trace | null;
  /** The visitor has passed a challenge already: rules that ask for one go on. Absent where nobody can have. */
  readonly isCleared?: boolean;
}

export interface Skips {
  readonly phases: Map<string, SkippedBy>;
  readonly rulesets: Map<string, SkippedBy>;
  /** Rules by their ruleset. */
  readonly rules: Map<string, Map<string, SkippedBy>>;
  /** Parts of the request that rules do not look at, by the rules' ruleset. */
  readonly parts: Map<string, PartExceptions>;
}

/** The id of the rule that did it. */
export type SkippedBy = string;

/** One rule of one phase, in the order in which they were looked at. */
export interface TraceStep {
  readonly phase: string;
  readonly ruleset_id: string;
  readonly ruleset_version: string;
  readonly rule_id: string;
  readonly action: string;
  readonly result: "applied" | "not_matched" | "below_limit" | "below_threshold" | "skipped" | "exhausted";
  /** The rule that executed the ruleset; empty in entry points. */
  readonly deployed_by: string;
  /** Why it was skipped: the rule that did it. */
  readonly skipped_by?: string;
  /** What a managed rule found. */
  readonly matched?: Matched;
  /** Of the ruleset so far, after the rule. */
  readonly score?: number;
}

export interface Trace {
  readonly steps: TraceStep[];
  /** There was more than is kept. */
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

/** Adds what a rule skips to what is skipped already. */
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
