import type { TransactionOptions, Transaction } from "./transaction.ts";
import type { CompiledProgram } from "./compiled-program.ts";
import { createPhaseFilter } from "./phase-filter.ts";
import { createScannerBuilder } from "../prefilter/scanner.ts";
import type { Program } from "../program/program.ts";
import type { TransactionRequest } from "../transaction/transaction.ts";
import { preludeRules, settledRules } from "./prelude.ts";
import { SharedTexts } from "./shared-texts.ts";
import { compilePhases } from "./compiled-rule.ts";
import { Evaluation } from "./evaluation.ts";
import { createTransformationChains } from "./transformation-chains.ts";

/** A program, compiled once for all transactions of a thread. */
export interface SecLangEngine {
  readonly program: Program;
  begin(request: TransactionRequest, options?: TransactionOptions): Transaction;
}

/** `isFiltered: false` evaluates every rule on every value, which is slower and has the same result. Throws SecLangError. */
export function createEngine(program: Program, { isFiltered = true } = {}): SecLangEngine {
  const chains = createTransformationChains();
  const phases = compilePhases(program, chains);
  const first = preludeRules(phases[1] ?? []);
  const builder = createScannerBuilder();
  let groups = 0;
  const filters = phases.map((rules) => (isFiltered ? createPhaseFilter(rules, builder, () => groups++) : null));
  const compiled: CompiledProgram = {
    ...{ program, phases, filters, chains, scan: builder.build(), shared: new SharedTexts() },
    ...{ prelude: first, settled: settledRules(phases, first), preludes: new WeakMap() },
  };
  return { program, begin: (request, options = {}) => new Evaluation(compiled, request, options) };
}
