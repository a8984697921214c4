import type { Usage } from "#gateway/usage/usage-formats.ts";

/** The price of a service tier, as a multiple of the provider's usual price. */
interface TierRow {
  readonly providers: RegExp;
  /** The tier's name in answers, in lower case. */
  readonly tier: RegExp;
  readonly model?: RegExp;
  readonly factor: number;
}

const OPENAI = /^(?:openai|azure-openai)$/;
const GOOGLE = /^google-/;
const PRIORITY = /^(?:on_demand_)?priority$/;

/**
 * From the providers' price lists (2026-09). The first match counts; all other tiers, also those with reserved capacity,
 * have the usual price.
 */
const ROWS: readonly TierRow[] = [
  { providers: /^(?:openai|azure-openai|anthropic|google-.*|aws-bedrock)$/, tier: /^batch$/, factor: 0.5 },
  { providers: /^(?:openai|azure-openai|google-.*|aws-bedrock)$/, tier: /^(?:on_demand_)?flex$/, factor: 0.5 },
  { providers: OPENAI, tier: PRIORITY, model: /^gpt-4o-mini/, factor: 5 / 3 },
  { providers: OPENAI, tier: PRIORITY, model: /^gpt-4o/, factor: 1.7 },
  { providers: OPENAI, tier: PRIORITY, model: /^(?:gpt-4\.1(?!-nano)|o3)/, factor: 1.75 },
  { providers: OPENAI, tier: PRIORITY, model: /^o4-mini/, factor: 20 / 11 },
  { providers: OPENAI, tier: PRIORITY, model: /^gpt-5-mini/, factor: 1.8 },
  { providers: OPENAI, tier: PRIORITY, factor: 2 },
  { providers: GOOGLE, tier: PRIORITY, factor: 1.8 },
  { providers: /^aws-bedrock$/, tier: PRIORITY, factor: 1.75 },
];

/** `tier`: as the answer names it, in lower case. */
function tierFactor(provider: string, model: string, tier: string): number {
  const fits = (row: TierRow): boolean => row.tier.test(tier) && row.providers.test(provider) && (row.model?.test(model) ?? true);
  return ROWS.find(fits)?.factor ?? 1;
}

/** The price of an answer as a multiple of the provider's usual price: its tier, its speed and where the provider computed it (Anthropic's price list, 2026-09). */
export const answerFactor = (provider: string, model: string, { tier, speed, geo }: Usage): number =>
  (tier ? tierFactor(provider, model, tier) : 1) * (speed === "fast" ? 6 : 1) * (geo === "us" ? 1.1 : 1);

/** Models of Anthropic from this generation on cost more at a location of Vertex AI than at the global address. */
const WITH_LOCATION_PRICES = /claude-(?!instant|[23]|opus-4(?![-.][5-9])|(?:sonnet|haiku)-4(?![-.][5-9]))/;
const AT_LOCATION = /\/locations\/(?!global\/)[^/]+\/publishers\/anthropic\//;

/** The same for the address of the request. */
export const placeFactor = (provider: string, model: string, path: string): number =>
  provider === "google-vertex-ai" && AT_LOCATION.test(path) && WITH_LOCATION_PRICES.test(model) ? 1.1 : 1;
