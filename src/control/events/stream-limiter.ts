import { PlatformError } from "#kernel/errors/errors.ts";

export interface StreamLimiter {
  /** Throws `rate_limited` where no place is left, of the account or of all. */
  look(accountId: string): void;
  /** Takes a place; what it gives is to be called once it is free. */
  take(accountId: string): () => void;
}

interface SeatLimits {
  readonly ofOne: number;
  readonly ofAll: number;
  /** What takes a place, as clients are told: `clients … can follow events`. */
  readonly takers: string;
  readonly what: string;
}

/** Seconds after which to ask for a place again: when one becomes free is not known. */
const RETRY_AFTER = "30";

/** Places for what goes on for long, of each account and of all, so that none takes all of them. */
export function createStreamLimiter({ ofOne, ofAll, takers, what }: SeatLimits): StreamLimiter {
  const taken = new Map<string, number>();
  const change = (accountId: string, by: 1 | -1): void => {
    const now = (taken.get(accountId) ?? 0) + by;
    if (now === 0) taken.delete(accountId);
    else taken.set(accountId, now);
  };
  return {
    look: (accountId) => {
      const all = taken.values().reduce((sum, own) => sum + own, 0);
      if (all >= ofAll || (taken.get(accountId) ?? 0) >= ofOne)
        throw new PlatformError("rate_limited", {
          message: `At most ${ofOne} ${takers} per account and ${ofAll} in total can ${what} at the same time.`,
          headers: { "retry-after": RETRY_AFTER },
        });
    },
    take: (accountId) => {
      change(accountId, 1);
      return () => change(accountId, -1);
    },
  };
}
