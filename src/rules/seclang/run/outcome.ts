import type { Disruption } from "../program/program.ts";

/** Results of the rules in a transaction. */
export interface Outcome {
  /** Rules that applied, in order. */
  readonly matches: readonly RuleMatch[];
  /** The first rule that disrupts; null if none does, or if the engine only detects. */
  readonly interruption: Interruption | null;
}

export interface RuleMatch {
  readonly id: number;
  readonly phase: number;
  readonly message: string;
  readonly logdata: string;
  readonly severity: number | null;
  /** Whether the rule's match is reported. */
  readonly isLogged: boolean;
  /** Points that it added to the score of the request, or of the response, for every value. */
  readonly points: number;
  /** The variables that its links matched, such as ARGS:name, and their values. */
  readonly variables: readonly MatchedVariable[];
  /** How many of them, from the first, its first link matched: without these the rule does not apply. */
  readonly entries: number;
}

export interface MatchedVariable {
  readonly name: string;
  readonly value: string;
}

export interface Interruption {
  readonly ruleId: number;
  readonly disruption: Disruption;
  readonly status: number;
  readonly location: string;
}
