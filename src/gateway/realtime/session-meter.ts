import type { GatewayEntry } from "#snapshot/entries.ts";
import type { Costs } from "../costs.ts";
import type { Refusal } from "../errors.ts";
import type { Step } from "../plan.ts";
import { isClaim, type SpendClaim, type SpendLimits } from "../spend/spend-limits.ts";
import type { Usage } from "../usage-shapes.ts";

/** Holds a session within what may be spent: each of its answers is a claim of its own. */
export interface SessionMeter {
  /** A refusal where nothing is left to begin with. */
  begin(): Refusal | undefined;
  /** Counts an answer, and claims what the next one may cost; a refusal where nothing is left for it. */
  answered(usage: Usage): Refusal | undefined;
  end(): void;
}

export function createSessionMeter(
  { spend, costs }: { readonly spend: SpendLimits; readonly costs: Costs },
  session: { readonly gateway: GatewayEntry; readonly step: Step; readonly metadata: string },
): SessionMeter {
  const { gateway, step, metadata } = session;
  let claim: SpendClaim | undefined;
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
      return begin();
    },
    end: () => {
      claim?.release();
      claim = undefined;
    },
  };
}
