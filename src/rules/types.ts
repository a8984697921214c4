import type { ManagedExecution } from "./managed/rulesets.ts";
import type { RequestView, ResponseView } from "./views.ts";

/** A rule as it is stored and snapshotted; more fields do no harm. */
export interface RuleDefinition {
  readonly id: string;
  readonly action: string;
  readonly action_parameters: Readonly<Record<string, unknown>>;
  readonly expression: string;
  readonly description: string;
  readonly enabled: boolean;
}

export interface RulesetDefinition {
  readonly id: string;
  readonly phase: string;
  readonly rules: readonly RuleDefinition[];
}

/** Whether a rule applies. Never throws, never waits. `response` is null in the request phases. */
export type Predicate = (request: RequestView, response: ResponseView | null) => boolean;

export interface CompiledRule {
  readonly definition: RuleDefinition;
  readonly applies: Predicate;
  /** No later rule of the phase runs once this one applied. */
  readonly ends: "phase" | "ruleset" | null;
  readonly match: Match;
}

export interface CompiledRuleset {
  readonly id: string;
  readonly phase: string;
  /** Enabled rules that compiled, in order. */
  readonly rules: readonly CompiledRule[];
  /** Rules that were left out: one bad rule must not take its zone down. */
  readonly problems: readonly { readonly rule_id: string; readonly message: string }[];
}

/** A rule that applied. Built once at compile time, so that a run allocates only the list. */
export interface Match {
  readonly ruleset_id: string;
  readonly rule: RuleDefinition;
  readonly action: string;
  readonly action_parameters: Readonly<Record<string, unknown>>;
  /** For `execute` of a managed ruleset: what to run, overrides applied. */
  readonly managed: ManagedExecution | null;
}

/** Something wrong in a rule, addressed by a JSON pointer below it: `/action_parameters/id`. */
export interface RuleProblem {
  readonly pointer: string;
  readonly message: string;
}
