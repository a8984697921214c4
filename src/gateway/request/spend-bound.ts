/** A spend limit of one request: an amount of US dollars in a window. */
export interface SpendBound {
  /** Identifies the counter: a rule, and the partition that it counts separately. */
  readonly key: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly technique: "fixed" | "sliding";
}
