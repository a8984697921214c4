import { createPhaseFilter, type PhaseFilter } from "./phase-filter.ts";
import { createScannerBuilder, type Scan } from "../prefilter/scanner.ts";
import type { Program } from "../program/program.ts";
import type { TransactionRequest, TransactionResponse } from "../transaction/transaction.ts";
import { type CompiledRule, compilePhases } from "./compiled-rule.ts";
import { Evaluation } from "./evaluation.ts";
import type { Outcome } from "./outcome.ts";
import { createTransformationChains, type TransformationChains } from "./transformation-chains.ts";

/** A program, compiled once for all transactions of a thread. */
export interface SecLangEngine {
  readonly program: Program;
  begin(request: TransactionRequest, options?: TransactionOptions): Transaction;
}

export interface TransactionOptions {
  /** Rules that are left out. */
  readonly disabled?: ReadonlySet<number>;
  /** Nothing disrupts, whatever the program says. */
  readonly detectsOnly?: boolean;
  /** Whether matches have messages; what only these show is not captured without. */
  readonly hasTexts?: boolean;
  /** What `tx` holds before the first rule. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** One request and its response. Phases run in order; each returns what all so far have found. */
export interface Transaction {
  /** Phase 1. */
  requestHeaders(): Outcome;
  /** Phase 2, for which the body is read. */
  requestBody(): Outcome;
  /** Phase 3. */
  responseHeaders(response: TransactionResponse): Outcome;
  /** Phase 4, where the body is there. */
  responseBody(response: TransactionResponse): Outcome;
  /** Phase 5. */
  log(): Outcome;
  /** A variable of `tx`. */
  variable(name: string): string | undefined;
}

/** What evaluations share. */
export interface CompiledProgram {
  readonly program: Program;
  readonly phases: readonly (readonly CompiledRule[])[];
  readonly filters: readonly (PhaseFilter | null)[];
  readonly chains: TransformationChains;
  readonly scan: (value: string) => Scan;
}

/** `isFiltered: false` asks every rule about every value; what comes of it is the same, later. Throws SecLangError. */
export function createEngine(program: Program, { isFiltered = true } = {}): SecLangEngine {
  const chains = createTransformationChains();
  const phases = compilePhases(program, chains);
  const builder = createScannerBuilder();
  const filters = phases.map((rules) => (isFiltered ? createPhaseFilter(rules, builder) : null));
  const compiled: CompiledProgram = { program, phases, filters, chains, scan: builder.build() };
  return { program, begin: (request, options = {}) => new Evaluation(compiled, request, options) };
}
