import type { MatchedPart } from "./matched-part.ts";
import type { BodyCause } from "#rules/body/body-causes.ts";
import type { PhaseName } from "#rules/phases.ts";
import type { SignatureTable } from "#rules/managed/signatures/table.ts";
import type { CoreRuleSet } from "#rules/managed/core/core-rule-set.ts";

export type SensitivityLevel = "default" | "medium" | "low" | "eoff";

export interface ManagedRule {
  readonly id: string;
  /** The id of the detector; empty for rules with an expression or a signature. */
  readonly detector: string;
  /** The expression that the rule engine evaluates; absent if a detector decides. */
  readonly expression?: string;
  /** Parts in which its expression matches; of several parts, the first that a request has. */
  readonly shows?: readonly MatchedPart[];
  /** Its number among the ruleset's signatures, if a signature decides. */
  readonly signature?: number;
  /** The cause that the body must have, if that decides. */
  readonly cause?: BodyCause;
  /** Its number in the Core Rule Set, if that decides. */
  readonly core?: number;
  readonly action: string;
  readonly action_parameters?: Readonly<Record<string, unknown>>;
  /** The score that the rules before it must have reached for this one to apply. */
  readonly score_threshold?: number;
  readonly sensitivity_level?: SensitivityLevel;
  /** The minimum suspicion for the rule: the surest rules have 1. Absent for rules that add nothing themselves. */
  readonly suspicion?: number;
  readonly description: string;
  /** Tags that overrides may name. */
  readonly categories: readonly string[];
  /** Without overrides. */
  readonly enabled: boolean;
}

/** A ruleset that ships with the program. Its identifiers never change, since stored overrides name them. */
export interface ManagedRuleset {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly phase: PhaseName;
  readonly version: string;
  /** The actions that overrides may set. */
  readonly actions: readonly string[];
  /** Whether its rules can be made less sensitive. */
  readonly has_sensitivity: boolean;
  readonly rules: readonly ManagedRule[];
  /** The table that its signatures' numbers are of. */
  readonly signatures?: SignatureTable;
  /** Decides the rules of the ruleset that have a number in it. */
  readonly coreRuleSet?: CoreRuleSet;
}

/** The rules that one `execute` rule runs, with overrides applied. */
export interface ManagedExecution {
  readonly ruleset_id: string;
  /** Enabled rules, in the ruleset's order. */
  readonly rules: readonly ManagedRule[];
  /** Their positions in the ruleset as a hexadecimal bit set, which is sent to the detector thread. */
  readonly enabled: string;
  /** Overrides and exceptions of customers' own patterns (own-patterns.ts); empty without any. */
  readonly own: string;
}
