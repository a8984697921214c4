import type { TokenPricing } from "#model/gateways/gateway-provider.ts";
import { type CustomPattern, customDetector } from "#rules/detectors/engine/custom.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { wordDetector } from "#rules/detectors/engine/words.ts";
import type {
  CustomCostEntry,
  CustomProviderEntry,
  DlpProfileEntry,
  GatewayRouteEntry,
  Op,
  ProviderKeyEntry,
  RouteElement,
} from "#snapshot/entries.ts";
import { allGatewayDomains } from "#store/gateways/gateway-domains.ts";
import { allGatewayObjects, type GatewayObjectRow } from "#store/gateways/gateway-objects.ts";
import type { Unit } from "#store/database/store.ts";
import { domainEntry } from "./domains.ts";
import { valueOf } from "./objects.ts";

/** The stored form of a provider key. */
export interface StoredProviderConfig {
  readonly alias: string;
  readonly default_config: boolean;
  readonly provider_slug: string;
  readonly rate_limit?: number;
  readonly rate_limit_period: number;
  /** Sealed with the context `provider-key:{id}`. */
  readonly secret: string;
  readonly secret_preview: string;
}

export function providerKeyEntry(row: GatewayObjectRow): ProviderKeyEntry {
  const { alias, default_config, provider_slug, rate_limit, rate_limit_period, secret } = valueOf<StoredProviderConfig>(row);
  return {
    account_id: row.account_id,
    gateway_id: row.gateway_id,
    provider: provider_slug,
    alias,
    is_default: default_config,
    secret,
    // Clients turn the limit off with zero.
    ...(rate_limit ? { rate_limit: { limit: rate_limit, interval_seconds: rate_limit_period } } : {}),
  };
}

/** The stored form of a custom provider; its header fields are sealed with the context `custom-provider:{id}`. */
export interface StoredCustomProvider {
  readonly name: string;
  readonly slug: string;
  readonly base_url: string;
  readonly enable?: boolean;
  readonly headers?: string;
}

export interface StoredCustomCost {
  readonly model: string;
  readonly model_rule?: CustomCostEntry["rule"];
  readonly enable?: boolean;
  readonly cost_in?: number;
  readonly cost_out?: number;
  readonly token_pricing?: TokenPricing;
}

const RULES = ["equals", "starts-with", "contains"] as const;

/** Null while it is disabled. */
export function customProviderEntry(row: GatewayObjectRow, costs: readonly GatewayObjectRow[]): CustomProviderEntry | null {
  const { slug, base_url, headers, enable = true } = valueOf<StoredCustomProvider>(row);
  if (!enable) return null;
  const prices = costs.flatMap((cost) => costEntry(valueOf<StoredCustomCost>(cost)) ?? []);
  // The most specific rule wins, and among equals the longest model name.
  prices.sort((a, b) => RULES.indexOf(a.rule) - RULES.indexOf(b.rule) || b.model.length - a.model.length);
  return { account_id: row.account_id, slug, base_url, ...(headers === undefined ? {} : { headers }), costs: prices };
}

function costEntry({
  model,
  model_rule = "equals",
  enable = true,
  cost_in = 0,
  cost_out = 0,
  token_pricing: prices = {},
}: StoredCustomCost): CustomCostEntry | null {
  if (!enable) return null;
  const { input_cached_tokens, input_cache_creation_tokens, output_reasoning_tokens } = prices;
  return {
    model,
    rule: model_rule,
    input: prices.input_tokens ?? prices.input_text_tokens ?? prices.total_tokens ?? cost_in,
    output: prices.output_tokens ?? prices.total_tokens ?? cost_out,
    ...(input_cached_tokens === undefined ? {} : { cache_read: input_cached_tokens }),
    ...(input_cache_creation_tokens === undefined ? {} : { cache_write: input_cache_creation_tokens }),
    ...(output_reasoning_tokens === undefined ? {} : { reasoning: output_reasoning_tokens }),
  };
}

/** The stored form of a route, with the elements of the deployed version. */
export interface StoredRoute {
  readonly name: string;
  readonly elements: readonly RouteElement[];
  readonly version_id: string;
  readonly deployment_id: string;
  readonly deployed_at: string;
}

export function gatewayRouteEntry(row: GatewayObjectRow): GatewayRouteEntry {
  const { name, elements } = valueOf<StoredRoute>(row);
  return { account_id: row.account_id, gateway_id: row.gateway_id, name, elements };
}

/** The stored form of a profile's entry: a pattern or words. */
export interface StoredDlpEntry {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null;
  readonly enabled: boolean;
  readonly pattern?: { readonly regex: string; readonly validation?: "luhn" };
  readonly words?: string[];
}

export interface StoredDlpProfile {
  readonly name: string;
  readonly description: string | null;
  readonly entries: readonly StoredDlpEntry[];
}

/** Throws RegexError for a pattern that cannot be compiled. */
export const entryDetector = (entry: StoredDlpEntry): Detector =>
  entry.words === undefined ? customDetector(entryPattern(entry)) : wordDetector({ ...entry, words: entry.words });

const entryPattern = ({ id, name, pattern }: StoredDlpEntry): CustomPattern => ({
  ...{ id, name, pattern: pattern?.regex ?? "", validator: pattern?.validation ?? "none" },
  ...{ context: [], tags: [], enabled: true },
});

export function dlpProfileEntry(row: GatewayObjectRow): DlpProfileEntry {
  const entries = valueOf<StoredDlpProfile>(row).entries.filter(({ enabled }) => enabled);
  return {
    account_id: row.account_id,
    patterns: entries.filter(({ pattern }) => pattern !== undefined).map(entryPattern),
    words: entries.flatMap(({ id, name, words }) => (words === undefined ? [] : [{ id, name, words }])),
  };
}

/** All entries of these objects for the planes. */
export async function gatewayObjectOps(db: Unit["db"]): Promise<Op[]> {
  const domains = await allGatewayDomains(db);
  const keys = await allGatewayObjects(db, "provider_config");
  const providers = await allGatewayObjects(db, "custom_provider");
  const costs = await allGatewayObjects(db, "custom_cost");
  const routes = await allGatewayObjects(db, "route");
  const profiles = await allGatewayObjects(db, "dlp_profile");
  const costsOf = Map.groupBy(costs, ({ parent_id }) => parent_id);
  return [
    ...domains.map((row): Op => ({ kind: "gateway_domain", id: row.hostname, value: domainEntry(row) })),
    ...keys.map((row): Op => ({ kind: "provider_key", id: row.id, value: providerKeyEntry(row) })),
    ...providers.flatMap((row): Op[] => {
      const value = customProviderEntry(row, costsOf.get(row.id) ?? []);
      return value === null ? [] : [{ kind: "custom_provider", id: row.id, value }];
    }),
    ...profiles.map((row): Op => ({ kind: "dlp_profile", id: row.id, value: dlpProfileEntry(row) })),
    ...routes.map((row): Op => ({ kind: "gateway_route", id: row.id, value: gatewayRouteEntry(row) })),
  ];
}
