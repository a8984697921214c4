import type { CustomProviderEntry, GatewayEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { CUSTOM_PREFIX } from "#gateway/providers/custom-providers.ts";
import type { ListedPrice, Prices } from "#gateway/costs/prices.ts";
import { PROVIDERS, type Provider } from "#gateway/providers/providers.ts";
import { DYNAMIC } from "./gateway-routes.ts";
import { dialectOf } from "#gateway/dialects/dialects.ts";

/** The model's name at the unified endpoint, and its price in US dollars per token if known. */
export interface ListedModel {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly created_at: number;
  readonly owned_by: string;
  readonly cost_in: number | null;
  readonly cost_out: number | null;
}

/** `GET /compat/models`: models of the price table and of custom providers, and dynamic routes. Calls no provider. */
export interface ModelList {
  /** Models of the providers for which the gateway stores keys; without any, models of all providers. */
  of(gateway: GatewayEntry): { readonly object: "list"; readonly data: readonly ListedModel[] };
}

export function createModelList({ replica, prices }: { readonly replica: Replica; readonly prices: Prices }): ModelList {
  const builtIn = new Map<string, readonly ListedModel[]>();
  const modelsOf = (provider: Provider): readonly ListedModel[] => {
    let models = builtIn.get(provider.name);
    if (models === undefined)
      builtIn.set(provider.name, (models = prices.listed(provider.name).flatMap((price) => listed(provider, price))));
    return models;
  };
  return {
    of: (gateway) => {
      const { snapshot } = replica;
      const isOurs = (entry: { readonly account_id: string; readonly gateway_id: string }): boolean =>
        entry.account_id === gateway.account_id && entry.gateway_id === gateway.gateway_id;
      const kept = new Set([...snapshot.entries("provider_key")].filter(([, entry]) => isOurs(entry)).map(([, { provider }]) => provider));
      const providers = [...PROVIDERS.values()].filter(({ name }) => kept.size === 0 || kept.has(name));
      const custom = [...snapshot.entries("custom_provider")].filter(([, entry]) => entry.account_id === gateway.account_id);
      const routes = [...snapshot.entries("gateway_route")].filter(([, entry]) => isOurs(entry));
      const data = [
        ...providers.flatMap(modelsOf),
        ...custom.flatMap(([, entry]) => customModels(entry)),
        ...routes.map(([, { name }]) => model(DYNAMIC + name, "dynamic", null, null)),
      ];
      return { object: "list", data };
    },
  };
}

const model = (id: string, owner: string, cost_in: number | null, cost_out: number | null): ListedModel => ({
  id,
  object: "model",
  created: 0,
  created_at: 0,
  owned_by: owner,
  cost_in,
  cost_out,
});

/** Converts a name of the price table (with region or maker) to a model name; undefined to omit the model. */
const NAMES: Readonly<Record<string, (name: string) => string | undefined>> = {
  "aws-bedrock": (name) => name.replace(/^regional\./, ""),
  "google-vertex-ai": (name) => (name.startsWith("gemini") ? `google/${name}` : undefined),
  // Deployments have custom names.
  "azure-openai": () => undefined,
};

function listed(provider: Provider, { name, input, output }: ListedPrice): readonly ListedModel[] {
  const own = (NAMES[provider.name] ?? ((same: string) => same))(name);
  const isAlike = provider.compat !== undefined || provider.chatPaths.has("/chat/completions");
  if (own === undefined || !(isAlike || dialectOf(provider.name, own) !== undefined)) return [];
  return [model(`${provider.name}/${own}`, provider.name, input, output)];
}

const customModels = ({ slug, costs }: CustomProviderEntry): readonly ListedModel[] =>
  costs
    .filter(({ rule }) => rule === "equals")
    .map((cost) => model(`${CUSTOM_PREFIX}${slug}/${cost.model}`, CUSTOM_PREFIX + slug, cost.input, cost.output));
