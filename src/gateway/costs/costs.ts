import { customCost } from "#gateway/usage/custom-cost.ts";
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
    if (options.customCost !== undefined) return { cost: customCost(options.customCost, usage), isCustom: true };
    if (price !== undefined) return { cost: price(model, usage), isCustom: true };
    if (typeof usage.toldCost === "number") return { cost: usage.toldCost, isCustom: false };
    return { cost: prices.cost(provider, model, usage), isCustom: false };
  },
});
