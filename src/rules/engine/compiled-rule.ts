import type { RuleDefinition } from "#rules/definition.ts";
import type { Dispatch } from "#rules/expression/compile/dispatch.ts";
import type { ManagedExecution } from "#rules/managed/managed-ruleset.ts";
import type { FieldChange } from "#rules/actions/field-change.ts";
import type { ReadChanges } from "#rules/actions/header-changes.ts";
import type { CompiledLimit } from "#rules/rate-limit/rate-limit.ts";
import type { Matched } from "#rules/managed/matched-part.ts";
import type { ReadParameters } from "#rules/parameters/values.ts";
import type { RequestView, Predicate } from "#rules/views.ts";
import type { PartExceptions } from "#rules/managed/excepted-parts.ts";

export interface CompiledRule {
  readonly definition: RuleDefinition;
  readonly applies: Predicate;
  /** The phase or ruleset in which no later rule runs after this one has matched. */
  readonly ends: "phase" | "ruleset" | null;
  /** The ruleset that it executes. */
  readonly executes: Executed | null;
  /** Rulesets, phases and rules that it skips beyond its own. */
  readonly skips: SkipList | null;
  /** Points that it adds to the score of the current ruleset. */
  readonly increment: number;
  /** Points that depend on the request; null if they do not. */
  readonly points: ((request: RequestView) => number) | null;
  /** Lowest score at which it matches; 0 if it ignores the score. */
  readonly threshold: number;
  /** The limit that must be exceeded before its action applies; null if it acts at once. */
  readonly limit: CompiledLimit | null;
  /** The matched parts, each once; absent if the rule's expression says all. */
  readonly explain?: (request: RequestView) => readonly Matched[];
  /** Reads its parameters for a request; null if they have no expression. */
  readonly read: ReadParameters | null;
  /** Reads its header changes for a request; null if they are those of `match`. */
  readonly readChanges: ReadChanges | null;
  readonly match: Match;
}

/** The ruleset that an `execute` rule runs. */
export interface Executed {
  readonly id: string;
  /** The current ruleset, or undefined if it does not exist. For a managed ruleset with expressions, those rules. */
  ruleset(): CompiledRuleset | undefined;
  /** Whether its rules report their findings: those of a managed ruleset do. */
  readonly tells: boolean;
  /** Public key for which matched data is encrypted; empty if it is not stored. */
  readonly publicKey: string;
  /** For managed rulesets that another engine runs. */
  readonly managed: ManagedExecution | null;
}

export interface SkipList {
  readonly phases: readonly string[];
  readonly rulesets: readonly string[];
  readonly rules: readonly (readonly [rulesetId: string, ruleIds: readonly string[]])[];
  readonly parts: readonly (readonly [rulesetId: string, exceptions: PartExceptions])[];
}

export interface CompiledRuleset {
  readonly id: string;
  readonly phase: string;
  readonly version: string;
  /** Enabled rules that compiled, in order. */
  readonly rules: readonly CompiledRule[];
  /** Finds the matching rules without evaluating each; null if they are few. */
  readonly dispatch: Dispatch | null;
  /** Steps of evaluating its rules, beside those for texts and arrays (`budget.ts`). */
  readonly steps: number;
  /** Whether it runs even if an earlier rule skips the rest of its phase. */
  readonly outlivesSkips?: boolean;
  /** Whether one of its own rules reads the request's body. */
  readonly readsBody: boolean;
  /** Whether its own rules read the response's body. */
  readonly readsResponse: boolean;
  /** Whether one of its rules executes a ruleset that is decided here and not in the detector. */
  readonly judges: boolean;
  /** The ruleset in which some rules ignore some parts of requests; absent if its rules have no parts. */
  readonly excepting?: (exceptions: PartExceptions) => CompiledRuleset;
  /** Omitted rules: one bad rule must not take its zone down. */
  readonly problems: readonly { readonly rule_id: string; readonly message: string }[];
}

/** A matched rule, as plain data. Made once at compile time, so that a run mostly allocates only the list. */
export interface Match {
  readonly ruleset_id: string;
  readonly rule: RuleDefinition;
  readonly action: string;
  /** With the value instead of each expression: `{ value }` for `{ expression }`, undefined if a part is missing. */
  readonly action_parameters: Readonly<Record<string, unknown>>;
  /** Header changes of a `rewrite`. */
  readonly changes: readonly FieldChange[];
  /** For `execute` of a managed ruleset that another engine runs: the rules to run, with overrides and exceptions applied. */
  readonly managed: ManagedExecution | null;
  /** The rule that executed its ruleset; empty in entry points. */
  readonly deployed_by: string;
  /** Findings of managed rules that led to it. */
  readonly found: readonly Found[];
  /** Public key for which the findings are encrypted; empty if they are not stored. */
  readonly public_key: string;
  /** Whether it writes a security event. */
  readonly logs: boolean;
}

/** A managed rule that matched the request. */
export interface Found {
  readonly rule_id: string;
  /** The parts, the likeliest first. Empty if the rule's expression says all. */
  readonly places: readonly Matched[];
  /** Points that it added to the score; 0 if it decides by itself. */
  readonly score: number;
}
