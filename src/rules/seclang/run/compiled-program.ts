import type { Program } from "#rules/seclang/program/program.ts";
import type { CompiledSecRule } from "./compiled-rule.ts";
import type { Prelude } from "./prelude.ts";
import type { SharedTexts } from "./shared-texts.ts";
import type { PhaseFilter } from "./phase-filter.ts";
import type { TransformationChains } from "./transformation-chains.ts";
import type { Scan } from "#rules/seclang/prefilter/scanner.ts";

/** State that evaluations share. */
export interface CompiledProgram {
  readonly program: Program;
  readonly phases: readonly (readonly CompiledSecRule[])[];
  readonly filters: readonly (PhaseFilter | null)[];
  readonly chains: TransformationChains;
  readonly scan: (value: string) => Scan;
  readonly shared: SharedTexts;
  /** The first rules of phase 1 that do the same for every request. */
  readonly prelude: readonly CompiledSecRule[];
  /** By phase, the rules whose first question only they decide. */
  readonly settled: readonly (readonly CompiledSecRule[])[];
  /** Their results, by the variables that a transaction is given; null if one of them ends or skips. */
  readonly preludes: WeakMap<Readonly<Record<string, string>>, Prelude | null>;
}
