import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import {
  CustomCost,
  CustomCostCreate,
  CustomCostUpdate,
  CustomProvider,
  CustomProviderCreate,
  CustomProviderUpdate,
  ProviderConfig,
  ProviderConfigCreate,
  ProviderConfigUpdate,
} from "#model/gateways/gateway-provider.ts";

const READ = ["AI Gateway Read", "AI Gateway Write"] as const;
const WRITE = ["AI Gateway Write"] as const;
const GATEWAY = "/accounts/:account_id/ai-gateway/gateways/:gateway_id";
const CONFIGS = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/provider_configs";
const CONFIG = "/accounts/:account_id/ai-gateway/gateways/:gateway_id/provider_configs/:provider_config_id";
const PROVIDERS = "/accounts/:account_id/ai-gateway/custom-providers";
const PROVIDER = "/accounts/:account_id/ai-gateway/custom-providers/:custom_provider_id";
const COSTS = "/accounts/:account_id/ai-gateway/custom-providers/costs";
const COST = "/accounts/:account_id/ai-gateway/custom-providers/costs/:custom_cost_id";

const shared = { scope: "account", invalid_body: "gateway_input_invalid", invalid_query: "gateway_input_invalid" } as const;
const reading = { ...shared, permissions: READ } as const;
const writing = { ...shared, permissions: WRITE, paging: "one" } as const;
const PAGES = { paging: "page", per_page: { default: 20, max: 100 } } as const;
const Search = Type.Optional(Type.String({ maxLength: 128 }));

/** Keys for providers that gateways keep, and the addresses of providers. */
const PROVIDER_CONFIG_ROUTES: readonly Route[] = [
  route({
    ...reading,
    ...PAGES,
    method: "GET",
    path: CONFIGS,
    id: "gateway-provider-configs-list",
    summary: "List the provider keys that a gateway stores",
    result: ProviderConfig,
    handler: ({ control, params, page }) => control.providerConfigs.list(params.account_id, params.gateway_id, page),
  }),
  route({
    ...writing,
    method: "POST",
    path: CONFIGS,
    id: "gateway-provider-configs-create",
    summary: "Store a key for a provider",
    body: ProviderConfigCreate,
    result: ProviderConfig,
    handler: ({ control, call, params, body }) => control.providerConfigs.create(call, params.account_id, params.gateway_id, body),
  }),
  route({
    ...writing,
    method: "PUT",
    path: CONFIG,
    id: "gateway-provider-configs-update",
    summary: "Replace a key for a provider",
    body: ProviderConfigUpdate,
    result: ProviderConfig,
    handler: ({ control, call, params, body }) =>
      control.providerConfigs.update(call, params.account_id, params.gateway_id, params.provider_config_id, body.secret),
  }),
  route({
    ...writing,
    method: "DELETE",
    path: CONFIG,
    id: "gateway-provider-configs-delete",
    summary: "Delete a key for a provider",
    result: ProviderConfig,
    handler: ({ control, call, params }) =>
      control.providerConfigs.delete(call, params.account_id, params.gateway_id, params.provider_config_id),
  }),
  route({
    ...reading,
    method: "GET",
    path: `${GATEWAY}/url/:provider`,
    id: "gateway-url-get",
    summary: "Show the URL of a provider at a gateway",
    result: Type.String(),
    paging: "one",
    handler: ({ control, params }) => control.gateways.urlOf(params.account_id, params.gateway_id, params.provider),
  }),
];

const COST_ROUTES: readonly Route[] = [
  route({
    ...reading,
    ...PAGES,
    method: "GET",
    path: COSTS,
    id: "gateway-custom-costs-list",
    summary: "List the costs of an account's custom providers",
    query: Type.Object({ account_provider_id: Type.Optional(Type.String({ format: "uuid" })), search: Search }),
    result: CustomCost,
    handler: ({ control, params, query, page }) => control.customProviders.listCosts(params.account_id, query, page),
  }),
  route({
    ...writing,
    method: "POST",
    path: COSTS,
    id: "gateway-custom-costs-create",
    summary: "Set the costs of models of a custom provider",
    body: CustomCostCreate,
    result: CustomCost,
    handler: ({ control, call, params, body }) => control.customProviders.createCost(call, params.account_id, body),
  }),
  route({
    ...reading,
    method: "GET",
    path: COST,
    id: "gateway-custom-costs-get",
    summary: "Show a cost",
    result: CustomCost,
    paging: "one",
    handler: ({ control, params }) => control.customProviders.getCost(params.account_id, params.custom_cost_id),
  }),
  route({
    ...writing,
    method: "PATCH",
    path: COST,
    id: "gateway-custom-costs-edit",
    summary: "Change a cost",
    body: CustomCostUpdate,
    result: CustomCost,
    handler: ({ control, call, params, body }) => control.customProviders.updateCost(call, params.account_id, params.custom_cost_id, body),
  }),
  route({
    ...writing,
    method: "DELETE",
    path: COST,
    id: "gateway-custom-costs-delete",
    summary: "Delete a cost",
    result: CustomCost,
    handler: ({ control, call, params }) => control.customProviders.deleteCost(call, params.account_id, params.custom_cost_id),
  }),
];

/** An account's custom providers. */
const CUSTOM_PROVIDER_ROUTES: readonly Route[] = [
  route({
    ...reading,
    ...PAGES,
    method: "GET",
    path: PROVIDERS,
    id: "gateway-custom-providers-list",
    summary: "List an account's custom providers",
    query: Type.Object({ search: Search, enable: Type.Optional(Type.Boolean()) }),
    result: CustomProvider,
    handler: ({ control, params, query, page }) => control.customProviders.list(params.account_id, query, page),
  }),
  route({
    ...writing,
    method: "POST",
    path: PROVIDERS,
    id: "gateway-custom-providers-create",
    summary: "Create a custom provider",
    body: CustomProviderCreate,
    result: CustomProvider,
    handler: ({ control, call, params, body }) => control.customProviders.create(call, params.account_id, body),
  }),
  route({
    ...reading,
    method: "GET",
    path: PROVIDER,
    id: "gateway-custom-providers-get",
    summary: "Show a custom provider",
    result: CustomProvider,
    paging: "one",
    handler: ({ control, params }) => control.customProviders.get(params.account_id, params.custom_provider_id),
  }),
  route({
    ...writing,
    method: "PATCH",
    path: PROVIDER,
    id: "gateway-custom-providers-edit",
    summary: "Change a custom provider",
    body: CustomProviderUpdate,
    result: CustomProvider,
    handler: ({ control, call, params, body }) => control.customProviders.update(call, params.account_id, params.custom_provider_id, body),
  }),
  route({
    ...writing,
    method: "DELETE",
    path: PROVIDER,
    id: "gateway-custom-providers-delete",
    summary: "Delete a custom provider with its costs",
    result: CustomProvider,
    handler: ({ control, call, params }) => control.customProviders.delete(call, params.account_id, params.custom_provider_id),
  }),
];

export const GATEWAY_PROVIDER_ROUTES: readonly Route[] = [...PROVIDER_CONFIG_ROUTES, ...CUSTOM_PROVIDER_ROUTES, ...COST_ROUTES];
