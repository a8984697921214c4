/** Limits that all machines of an installation count together. */
export interface SharedLimits {
  /**
   * Counts the amount, unless the limit is known to be reached or this thread holds too little of it: 0 only asks. While the machines
   * cannot count together it returns "yes", and the caller's own count decides.
   */
  take(key: string, amount: number, limit: SharedLimit): LimitAnswer;
  /** Counts an amount that is owed in any case. */
  owe(key: string, amount: number, limit: SharedLimit): void;
  /** Returns what was taken in the window and not used; what is of another window stays counted in it. */
  giveBack(key: string, amount: number, window: number): void;
  /** The key's window, for `giveBack`; -1 while it is unknown. */
  windowOf(key: string): number;
  /** Resolves when this thread holds the amount, or after a tenth of a second at most; undefined if `take` needs no wait. */
  ready(key: string, amount: number, limit: SharedLimit): Promise<void> | undefined;
}

/** "full": the limit is reached. "perhaps": other machines hold what is left, and may return some of it. */
export type LimitAnswer = "yes" | "perhaps" | "full";

export interface SharedLimit {
  /** Amount for each window, in whole units. */
  readonly limit: number;
  readonly windowMs: number;
  /** A `sliding` window also counts the part of the previous one that lies within the last length. */
  readonly technique: "fixed" | "sliding";
  /** Nothing may be passed before it is held: for money. */
  readonly isStrict?: boolean;
}

/** Each machine counts alone. */
export const UNSHARED: SharedLimits = {
  take: () => "yes",
  owe: () => undefined,
  giveBack: () => undefined,
  windowOf: () => -1,
  ready: () => undefined,
};
