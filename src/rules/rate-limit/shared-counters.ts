import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import type { CounterTable, RateCounters } from "./counter-table.ts";

/**
 * Counters of this machine, and a limit that all machines count together: the stricter of the two decides. Without an answer of the others
 * the machine's own count does, as it does alone.
 */
export function shareCounters(table: CounterTable, shared: SharedLimits): CounterTable {
  const around = (counters: RateCounters, owner: string): RateCounters => ({
    ...counters,
    add: (key, amount, window, nowMs) => {
      const sum = counters.add(key, amount, window, nowMs);
      const { limit, periodMs, technique } = window;
      if (limit === undefined || sum > limit) return sum;
      const answer = shared.take(`${owner}\0${key}`, amount, { limit, windowMs: periodMs, technique });
      return answer === "yes" ? sum : answer === "full" ? limit + 1 : limit + PERHAPS;
    },
  });
  return { ...around(table, ""), of: (accountId, ownerId) => around(table.of(accountId, ownerId), `${accountId}/${ownerId}`) };
}

/** Above the limit, but no whole sum: the client is refused now, and not kept out. */
const PERHAPS = 0.5;
