/** What one request may have to stay within: an amount of US dollars in a window. */
export interface SpendBound {
  /** Names what is counted: a rule, and whom it counts apart. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly technique: "fixed" | "sliding";
}
