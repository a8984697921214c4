import { COST_MAX, customCost } from "#gateway/usage/custom-cost.ts";
import type { Step } from "#gateway/request/plan.ts";
import { placeFactor } from "./service-tiers.ts";
import type { Prices } from "./prices.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";

/** Cost of a request in US dollars; null if unknown. */
export interface Cost {
  readonly cost: number | null;
  /** The request, or the owner of the provider, set the price. */
  readonly isCustom: boolean;
}

export interface Costs {
  of(step: Step, usage: Usage, isCached: boolean): Cost;
}

/**
 * A stored answer costs nothing. Otherwise the first known price counts: the request's, that of the provider's owner, the
 * one that the provider reports, the table's.
 */
export const createCosts = (prices: Prices): Costs => ({
  of: ({ provider, model, path, options, price }, usage, isCached) => {
    if (isCached) return { cost: 0, isCustom: false };
    if (options.customCost !== undefined) return { cost: bounded(customCost(options.customCost, usage)), isCustom: true };
    if (price !== undefined) return { cost: bounded(price(model, usage)), isCustom: true };
    if (typeof usage.toldCost === "number") return { cost: bounded(usage.toldCost), isCustom: false };
    const told = usage.model ? prices.cost(provider, usage.model, usage) : null;
    const cost = told ?? prices.cost(provider, model, usage);
    return { cost: cost === null ? null : bounded(cost * placeFactor(provider, model, path)), isCustom: false };
  },
});

/** Keeps sums of costs finite, for any prices of accounts and providers. */
const bounded = (cost: number | null): number | null => (cost === null || cost <= COST_MAX ? cost : COST_MAX);
