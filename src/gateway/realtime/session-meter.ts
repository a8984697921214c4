import type { GatewayEntry } from "#snapshot/entries.ts";
import type { Costs } from "#gateway/costs/costs.ts";
import type { Refusal } from "#gateway/http/errors.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import type { Step } from "#gateway/request/plan.ts";
import { isClaim, type SpendClaim, type SpendLimits } from "#gateway/limits/spend-limits.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";

/** Holds a session within the gateway's limits: each of its answers is its own claim, and counts as a request. */
export interface SessionMeter {
  /** A refusal where nothing is left to begin with. */
  begin(): Refusal | undefined;
  /** Counts an answer, and claims what the next one may cost; a refusal where nothing is left for it, or it was one too many. */
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
      // The handshake counted as the first one.
      if (++answers > 1 && rateLimits.take(gateway) > 0) return { name: "aig_rate_limited" };
      return begin();
    },
    end: () => {
      claim?.release();
      claim = undefined;
    },
  };
}
