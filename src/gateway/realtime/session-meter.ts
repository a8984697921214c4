import type { GatewayEntry } from "#snapshot/entries.ts";
import type { Costs } from "#gateway/costs/costs.ts";
import type { Refusal } from "#gateway/http/errors.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import type { Step } from "#gateway/request/plan.ts";
import { isClaim, type SpendClaim, type SpendLimits } from "#gateway/limits/spend-limits.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";

/** Keeps a session within the gateway's limits: each of its answers has its own claim and counts as a request. */
export interface SessionMeter {
  /** A refusal if nothing is left. */
  begin(): Refusal | undefined;
  /**
   * Counts an answer and reserves the cost of the next one; a refusal if nothing is left for it, or the rate limit is
   * exceeded.
   */
  answered(usage: Usage): Refusal | undefined;
  end(): void;
}

export function createSessionMeter(
  { spend, costs, rateLimits }: { readonly spend: SpendLimits; readonly costs: Costs; readonly rateLimits: RateLimits },
  session: { readonly gateway: GatewayEntry; readonly step: Step; readonly metadata: string },
): SessionMeter {
  const { gateway, step, metadata } = session;
  let claim: SpendClaim | undefined;
  let answers = 0;
  const begin = (): Refusal | undefined => {
    const outcome = spend.reserve(gateway, step, metadata);
    if (outcome !== undefined && !isClaim(outcome)) return outcome;
    claim = outcome;
    return undefined;
  };
  return {
    begin,
    answered: (usage) => {
      claim?.charge(usage, costs.of(step, usage, false).cost, true);
      claim = undefined;
      // The handshake was counted as the first answer.
      if (++answers > 1 && rateLimits.take(gateway) > 0) return { name: "aig_rate_limited" };
      return begin();
    },
    end: () => {
      claim?.release();
      claim = undefined;
    },
  };
}
