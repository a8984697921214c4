/** Limits that all machines of an installation count together. No method waits. */
export interface SharedLimits {
  /**
   * Counts the amount, unless the limit is known to be reached or this thread holds too little of it: 0 only asks. While the machines
   * cannot count together it returns "yes", and the caller's own count decides.
   */
  take(key: string, amount: number, limit: SharedLimit): LimitAnswer;
}

/** "full": the limit is reached. "perhaps": other machines hold what is left, and may return some of it. */
export type LimitAnswer = "yes" | "perhaps" | "full";

export interface SharedLimit {
  /** Amount for each window, in whole units. */
  readonly limit: number;
  readonly windowMs: number;
  /** A `sliding` window also counts the part of the previous one that lies within the last length. */
  readonly technique: "fixed" | "sliding";
}

/** Each machine counts alone. */
export const UNSHARED: SharedLimits = { take: () => "yes" };
