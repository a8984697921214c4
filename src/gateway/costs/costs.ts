import { COST_MAX, customCost } from "#gateway/usage/custom-cost.ts";
import type { Step } from "#gateway/request/plan.ts";
import type { Prices } from "./prices.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";

/** US dollars that a request cost; null where nobody knows. */
export interface Cost {
  readonly cost: number | null;
  /** The request, or the owner of the provider, said so. */
  readonly isCustom: boolean;
}

export interface Costs {
  of(step: Step, usage: Usage, isCached: boolean): Cost;
}

/** A kept answer costs nothing; else what the request says counts, then what the provider's owner says, then what the provider told, then the table. */
export const createCosts = (prices: Prices): Costs => ({
  of: ({ provider, model, options, price }, usage, isCached) => {
    if (isCached) return { cost: 0, isCustom: false };
    if (options.customCost !== undefined) return { cost: bounded(customCost(options.customCost, usage)), isCustom: true };
    if (price !== undefined) return { cost: bounded(price(model, usage)), isCustom: true };
    if (typeof usage.toldCost === "number") return { cost: bounded(usage.toldCost), isCustom: false };
    return { cost: bounded(prices.cost(provider, model, usage)), isCustom: false };
  },
});

/** Sums of costs stay finite, whatever accounts and providers state. */
const bounded = (cost: number | null): number | null => (cost === null || cost <= COST_MAX ? cost : COST_MAX);
