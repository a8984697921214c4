import type { Macro } from "../syntax/macro.ts";
import type { OperatorName } from "../syntax/operator.ts";
import type { SourcePosition } from "../syntax/source-error.ts";

/** Rules in the form that is sent to threads: plain data, so that every thread compiles the same. */
export interface Program {
  /** `detection`: no rule disrupts. */
  readonly engine: EngineMode;
  /** By phase, from 1 to 5, in order; the first is empty. */
  readonly phases: readonly (readonly Step[])[];
  /** Values of `SecComponentSignature`, such as OWASP_CRS/4.0.0. */
  readonly components: readonly string[];
  /** Changes that its directives make to rules of others (`ProgramSources.others`), for every transaction; absent without any. */
  readonly controls?: readonly Control[];
  /** Directives without effect. */
  readonly notices: readonly Notice[];
}

export type EngineMode = "on" | "detection" | "off";

export interface Notice {
  readonly place: SourcePosition;
  readonly text: string;
}

export type Step = { readonly kind: "rule"; readonly rule: Rule } | { readonly kind: "marker"; readonly name: string };

export type Disruption = "pass" | "block" | "deny" | "drop" | "redirect" | "allow" | "allow-phase" | "allow-request";

/** A rule and those chained to it. It matches if every link does. */
export interface Rule {
  readonly id: number;
  readonly place: SourcePosition;
  readonly links: readonly Link[];
  readonly message: Macro;
  readonly logdata: Macro;
  /** From 0, an emergency, to 7. */
  readonly severity: number | null;
  readonly tags: readonly string[];
  readonly version: string;
  readonly isLogged: boolean;
  readonly disruption: Disruption;
  /** Status of the response if it disrupts. */
  readonly status: number;
  /** Target of a redirect. */
  readonly location: Macro;
  /** The marker after which the phase continues if the rule matches. */
  readonly skipAfter: string | null;
  /** Number of rules that are skipped if it matches. */
  readonly skip: number;
}

export interface Link {
  /** Empty if the link always matches. */
  readonly targets: readonly Target[];
  readonly excluded: readonly Target[];
  readonly operator: SecOperator | null;
  readonly transformations: readonly string[];
  /** The operator tests a value after each transformation that changes it, rather than after the last. */
  readonly isMultiMatch: boolean;
  readonly captures: boolean;
  readonly assignments: readonly Assignment[];
  readonly controls: readonly Control[];
}

export interface Target {
  readonly collection: string;
  /** How many values there are rather than these. */
  readonly isCount: boolean;
  readonly selector: TargetSelector | null;
}

export type TargetSelector = { readonly kind: "name"; readonly name: string } | { readonly kind: "pattern"; readonly pattern: string };

export interface SecOperator {
  readonly name: OperatorName;
  readonly isNegated: boolean;
  readonly argument: Macro;
  /** Words or addresses of an operator, from the argument or from files. */
  readonly words: readonly string[];
  readonly place: SourcePosition;
}

/** `setvar`. */
export interface Assignment {
  readonly collection: string;
  readonly name: Macro;
  readonly operation: "set" | "add" | "subtract" | "remove";
  readonly value: Macro;
}

/** `ctl`: a change by a rule for the rest of the transaction. It names rules by their ids. */
export type Control =
  | { readonly kind: "remove-rules"; readonly ids: readonly number[] }
  | { readonly kind: "remove-target"; readonly ids: readonly number[]; readonly target: Target }
  | { readonly kind: "engine"; readonly mode: EngineMode }
  | { readonly kind: "body-processor"; readonly processor: string }
  | { readonly kind: "force-body" };

/** Every rule of a program, in order. */
export const rulesOf = (program: Program): readonly Rule[] =>
  program.phases.flatMap((steps) => steps.flatMap((step) => (step.kind === "rule" ? [step.rule] : [])));
