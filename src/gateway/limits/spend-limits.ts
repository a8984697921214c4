import type { GatewayEntry, SpendRuleEntry } from "#snapshot/entries.ts";
import type { Costs } from "#gateway/costs/costs.ts";
import type { Refusal } from "#gateway/http/errors.ts";
import type { Step } from "#gateway/request/plan.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";
import { createSpendEstimates } from "./estimate.ts";
import type { Reservation, SpendLedger } from "./ledger.ts";
import type { SpendBound } from "#gateway/request/spend-bound.ts";

/** Keeps a gateway's requests within its spend limits. */
export interface SpendLimits {
  /** Undefined if no rule applies to the step; a refusal if a rule has no room left. `metadata` is the request's, as JSON. */
  reserve(gateway: GatewayEntry, step: Step, metadata: string, hasWaited?: boolean): SpendClaim | Refusal | undefined;
  /** Resolves when `reserve` knows what other machines have left; undefined if it does. */
  ready(gateway: GatewayEntry, step: Step, metadata: string): Promise<void> | undefined;
}

/** The reservation of one step. */
export interface SpendClaim {
  /** Releases the reservation of a step without an answer. */
  release(): void;
  /** Settles the reservation at the end of the answer. If the cost is owed but unknown, the reserved amount counts. */
  charge(usage: Usage, cost: number | null, isOwed: boolean): void;
}

export const isClaim = (value: SpendClaim | Refusal): value is SpendClaim => "release" in value;

/** Length of the values that distinguish partitions; a longer value is cut. */
const PARTITION_CHARACTERS_MAX = 256;

type Metadata = Readonly<Record<string, unknown>>;

export function createSpendLimits({ ledger, costs }: { readonly ledger: SpendLedger; readonly costs: Costs }): SpendLimits {
  const estimates = createSpendEstimates(costs);
  const boundsOf = (gateway: GatewayEntry, step: Step, metadata: string) => {
    const { spend_rules = [] } = gateway;
    if (spend_rules.length === 0) return { rules: [], bounds: step.bounds ?? [] };
    const values = (metadata === "" ? {} : JSON.parse(metadata)) as Metadata;
    const rules = spend_rules.filter((rule) => isAbout(rule, step, values));
    return { rules, bounds: [...rules.map((rule) => boundOf(gateway, rule, values)), ...(step.bounds ?? [])] };
  };
  return {
    ready: (gateway, step, metadata) => {
      const { bounds } = boundsOf(gateway, step, metadata);
      return bounds.length === 0 ? undefined : ledger.ready(bounds, estimates.of(step));
    },
    reserve: (gateway, step, metadata, hasWaited) => {
      const { rules, bounds } = boundsOf(gateway, step, metadata);
      if (bounds.length === 0) return undefined;
      const amount = estimates.of(step);
      const outcome = ledger.reserve(bounds, amount, hasWaited);
      if ("settle" in outcome) return claim(outcome, amount.dollars, (usage) => estimates.learn(step, usage));
      return refusal(outcome, rules[bounds.indexOf(outcome)]?.id ?? "route", step);
    },
  };
}

const claim = (reservation: Reservation, amount: number, learn: (usage: Usage) => void): SpendClaim => ({
  release: () => reservation.settle(0),
  charge: (usage, cost, isOwed) => {
    learn(usage);
    reservation.settle(cost ?? (isOwed ? amount : 0));
  },
});

function isAbout({ provider, model, metadata: conditions = [] }: SpendRuleEntry, step: Step, metadata: Metadata): boolean {
  if (provider !== undefined && !provider.includes(step.provider)) return false;
  if (model !== undefined && !model.includes(step.model)) return false;
  return conditions.every(({ name, values }) => values === undefined || values.includes(String(metadata[name] ?? "")));
}

function boundOf({ account_id, gateway_id }: GatewayEntry, rule: SpendRuleEntry, metadata: Metadata): SpendBound {
  const parts = (rule.metadata ?? []).filter(({ values }) => values === undefined);
  const partition = parts.map(({ name }) => String(metadata[name] ?? "").slice(0, PARTITION_CHARACTERS_MAX));
  return {
    key: JSON.stringify([account_id, gateway_id, rule.id, ...partition]),
    limit: rule.limit,
    windowMs: rule.window_seconds * 1000,
    technique: rule.technique,
  };
}

const refusal = ({ limit, windowMs, technique }: SpendBound, rule: string, { provider, model }: Step): Refusal => ({
  name: "aig_spend_limit_exceeded",
  message: `Spend limit exceeded: rule '${rule}' (cost limit ${limit} per ${windowMs / 1000}s, ${technique}) for ${provider} ${model}`,
});
