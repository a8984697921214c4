import { PlatformError } from "#kernel/errors/errors.ts";

export interface StreamLimiter {
  /**
   * Takes a place; call the returned function once to free it. Throws `rate_limited` if the account, or all accounts together, have
   * reached the limit.
   */
  take(accountId: string): () => void;
  /** The parts as a stream that holds a place until it ends or is left, even before its first read. Throws as `take` does. */
  hold(accountId: string, parts: AsyncIterable<string>): AsyncIterableIterator<string>;
}

interface SeatLimits {
  readonly ofOne: number;
  readonly ofAll: number;
  /** Holders of places and their activity, for messages: `clients … can follow events`. */
  readonly takers: string;
  readonly what: string;
}

/** Retry-After in seconds, because it is unknown when a place becomes free. */
const RETRY_AFTER = "30";

/** Limits long-running work per account and in total, so that no account takes all places. */
export function createStreamLimiter({ ofOne, ofAll, takers, what }: SeatLimits): StreamLimiter {
  const taken = new Map<string, number>();
  const change = (accountId: string, by: 1 | -1): void => {
    const now = (taken.get(accountId) ?? 0) + by;
    if (now === 0) taken.delete(accountId);
    else taken.set(accountId, now);
  };
  // Looks and counts in one step: between two, others could take the place.
  const take = (accountId: string): (() => void) => {
    const all = taken.values().reduce((sum, own) => sum + own, 0);
    if (all >= ofAll || (taken.get(accountId) ?? 0) >= ofOne)
      throw new PlatformError("rate_limited", {
        message: `At most ${ofOne} ${takers} per account and ${ofAll} in total can ${what} at the same time.`,
        headers: { "retry-after": RETRY_AFTER },
      });
    change(accountId, 1);
    return () => change(accountId, -1);
  };
  return {
    take,
    hold: (accountId, parts) => {
      const stream = untilLeft(parts, take(accountId));
      // The first step has no part: without it, a stream that is left at once would not free its place.
      void stream.next();
      return stream;
    },
  };
}

async function* untilLeft(parts: AsyncIterable<string>, leave: () => void): AsyncGenerator<string> {
  try {
    yield "";
    yield* parts;
  } finally {
    leave();
  }
}
