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
  /** Nothing after it in the phase, or in its ruleset, runs once this one applied. */
  readonly ends: "phase" | "ruleset" | null;
  /** The ruleset that it executes. */
  readonly executes: Executed | null;
  /** What else it skips. */
  readonly skips: SkipList | null;
  /** What it adds to the score of the ruleset that is run. */
  readonly increment: number;
  /** What it adds instead, where that depends on the request; null where it does not. */
  readonly points: ((request: RequestView) => number) | null;
  /** The score from which on it applies; 0 where it does not look at the score. */
  readonly threshold: number;
  /** What has to be too much before its action is due; null where it acts at once. */
  readonly limit: CompiledLimit | null;
  /** Where it found what it looks for, each place once; absent where its expression says all. */
  readonly explain?: (request: RequestView) => readonly Matched[];
  /** Reads its parameters for a request; null where they hold no expression. */
  readonly read: ReadParameters | null;
  /** Reads its changes of a head for a request; null where they are those of `match`. */
  readonly readChanges: ReadChanges | null;
  readonly match: Match;
}

/** What an `execute` rule runs. */
export interface Executed {
  readonly id: string;
  /** The ruleset as it is now, or undefined where there is none. For managed rulesets whose rules have expressions, those. */
  ruleset(): CompiledRuleset | undefined;
  /** Whose rules say what they find: those of a managed ruleset. */
  readonly tells: boolean;
  /** For whom that is written down; empty where for nobody. */
  readonly publicKey: string;
  /** For managed rulesets that something else than this engine runs. */
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
  /** Finds the rules that apply without asking each; null where they are few. */
  readonly dispatch: Dispatch | null;
  /** What asking its rules costs beside what they walk over (`budget.ts`). */
  readonly steps: number;
  /** A rule of its own looks at the request's body. */
  readonly readsBody: boolean;
  /** One of its rules executes rules that decide here, rather than in the detector. */
  readonly judges: boolean;
  /** The same, but that some rules do not look at some parts of requests; absent where rules have no parts. */
  readonly excepting?: (exceptions: PartExceptions) => CompiledRuleset;
  /** Rules that were left out: one bad rule must not take its zone down. */
  readonly problems: readonly { readonly rule_id: string; readonly message: string }[];
}

/** A rule that applied, as plain data. Built once at compile time, so that a run mostly allocates only the list. */
export interface Match {
  readonly ruleset_id: string;
  readonly rule: RuleDefinition;
  readonly action: string;
  /** With the value in place of each expression in them: `{ value }` for `{ expression }`, undefined where something is missing. */
  readonly action_parameters: Readonly<Record<string, unknown>>;
  /** What a `rewrite` makes of a head's fields. */
  readonly changes: readonly FieldChange[];
  /** For `execute` of a managed ruleset that is run elsewhere: what to run, overrides and exceptions applied. */
  readonly managed: ManagedExecution | null;
  /** The rule that executed its ruleset; empty in entry points. */
  readonly deployed_by: string;
  /** What managed rules have found that led to it. */
  readonly found: readonly Found[];
  /** For whom what they found is written down; empty where for nobody. */
  readonly public_key: string;
  /** Leaves a security event. */
  readonly logs: boolean;
}

/** A managed rule that a request has the signs of. */
export interface Found {
  readonly rule_id: string;
  /** Where; the first of them is the one that a request is most likely about. Empty where its expression says all. */
  readonly places: readonly Matched[];
  /** What it has added to the score; 0 where it decides by itself. */
  readonly score: number;
}
