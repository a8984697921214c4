import type { CompiledTarget } from "./compiled-rule.ts";
import type { Outcome } from "./outcome.ts";
import type { TransactionResponse } from "#rules/seclang/transaction/transaction.ts";

export interface TransactionOptions {
  /** Excluded rules. */
  readonly disabled?: ReadonlySet<number>;
  /** Values that rules ignore. */
  readonly excluded?: readonly ExcludedTarget[];
  /** Whether matches never disrupt, whatever the program says. */
  readonly detectsOnly?: boolean;
  /** Whether matches have messages; without messages, captures used only in them are not stored. */
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

/** One request and its response. Phases run in order; each returns the matches of all so far. */
export interface Transaction {
  /** Phase 1. */
  requestHeaders(): Outcome;
  /** Phase 2, which needs the body. */
  requestBody(): Outcome;
  /** Phase 3. */
  responseHeaders(response: TransactionResponse): Outcome;
  /** Phase 4, after the body has arrived. */
  responseBody(response: TransactionResponse): Outcome;
  /** Phase 5. */
  log(): Outcome;
  /** A variable of `tx`. */
  variable(name: string): string | undefined;
}
