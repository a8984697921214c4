import type { CompiledTarget } from "./compiled-rule.ts";
import type { Outcome } from "./outcome.ts";
import type { TransactionResponse } from "#rules/seclang/transaction/transaction.ts";

export interface TransactionOptions {
  /** Rules that are left out. */
  readonly disabled?: ReadonlySet<number>;
  /** Values that rules do not look at. */
  readonly excluded?: readonly ExcludedTarget[];
  /** Whether matches never disrupt, whatever the program says. */
  readonly detectsOnly?: boolean;
  /** Whether matches have messages; what only these show is not captured without. */
  readonly hasTexts?: boolean;
  /** Contents of `tx` before the first rule. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The values of a collection with a name, which may be empty; `&ARGS` is the number of its values. */
export interface ExcludedTarget {
  readonly ids: readonly number[];
  readonly collection: string;
  readonly name: string;
  /** Instead of both. */
  readonly target?: CompiledTarget;
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
