import { randomUUID } from "node:crypto";
import { newId } from "#kernel/crypto/ids.ts";
import type { StoredCustomCost, StoredCustomProvider, StoredDlpProfile, StoredProviderConfig } from "#control/gateways/object-entries.ts";
import { previewOf } from "#control/gateways/provider-configs.ts";
import { gatewaySettings, type GatewayWrite } from "#model/gateways/gateway.ts";
import { otelContext, type StoredOtelEndpoint } from "#model/gateways/gateway-otel.ts";
import type { SpendLimits } from "#model/gateways/spend-limits.ts";
import type { CustomCostEntry, GatewayEntry, OtelEndpointEntry, SpendRuleEntry } from "#snapshot/entries.ts";
import { insertGatewayDomain } from "#store/gateways/gateway-domains.ts";
import { type GatewayObjectKind, type GatewayObjectRow, putGatewayObject } from "#store/gateways/gateway-objects.ts";
import { insertGateway } from "#store/gateways/gateways.ts";
import { each, openedText, type RecoveryDeps, timeOf } from "./recovery.ts";

/** Gateways with the settings in force; settings that were off have the values of a new gateway. */
export const recoverGateways = each("gateway", async ({ db }, _id, entry, deps) => {
  const now = timeOf(deps);
  await insertGateway(db, {
    account_id: entry.account_id,
    id: entry.gateway_id,
    settings: JSON.stringify(gatewaySettings(settingsOf(deps, entry), null)),
    // Cached answers stay valid.
    created_at: entry.cache_epoch ?? now,
    modified_at: now,
  });
});

function settingsOf(deps: RecoveryDeps, entry: GatewayEntry): GatewayWrite {
  const { rate_limit: rate, retry = {}, log_limit: logs, guardrails, dlp, spend_rules: spend, otel } = entry;
  return {
    authentication: entry.authentication,
    cache_invalidate_on_update: false,
    cache_ttl: entry.cache?.ttl_seconds ?? null,
    collect_logs: entry.collect_logs,
    rate_limiting_interval: rate?.interval_seconds ?? null,
    rate_limiting_limit: rate?.limit ?? null,
    rate_limiting_technique: rate?.technique ?? null,
    retry_max_attempts: retry.max_attempts ?? null,
    retry_delay: retry.delay_ms ?? null,
    retry_backoff: retry.backoff ?? null,
    log_management: logs?.rows_max ?? null,
    log_management_strategy: logs?.strategy ?? null,
    guardrails: guardrails ?? null,
    dlp: dlp === undefined ? null : { enabled: true, policies: dlp.map((one) => ({ ...copied(one), enabled: true })) },
    spend_limits: spend === undefined ? null : { enabled: true, rules: spend.map(spendRule) },
    otel: otel === undefined ? null : otel.map((endpoint) => otelEndpoint(deps, entry, endpoint)),
  };
}

/** Entries are frozen, rows are not. */
const copied = <T>(value: T): { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] } =>
  structuredClone(value) as never;

const spendRule = ({ id, limit, window_seconds, technique, provider, model, metadata = [] }: SpendRuleEntry) => {
  const filter = (values: readonly string[]) => ({ mode: "filter" as const, values: [...values] });
  const rule: NonNullable<SpendLimits["rules"]>[number] = {
    ...{ id, enabled: true, limit, limitType: "cost", window: window_seconds, technique },
    ...(provider === undefined ? {} : { provider: filter(provider) }),
    ...(model === undefined ? {} : { model: filter(model) }),
    metadata: Object.fromEntries(
      metadata.map(({ name, values }) => [name, values === undefined ? { mode: "partition" as const } : filter(values)]),
    ),
  };
  return rule;
};

function otelEndpoint(deps: RecoveryDeps, gateway: GatewayEntry, { url, content_type, secret }: OtelEndpointEntry): StoredOtelEndpoint {
  const fields = openedText(deps, secret, otelContext(gateway.account_id, gateway.gateway_id));
  const header_names = fields === null ? [] : Object.keys(JSON.parse(fields) as object);
  const has_authorization = header_names.includes("authorization");
  return { url, content_type, header_names: header_names.filter((name) => name !== "authorization"), has_authorization, secret };
}

export const recoverGatewayDomains = each("gateway_domain", async ({ db }, hostname, entry, deps) => {
  const now = timeOf(deps);
  await insertGatewayDomain(db, { hostname, ...entry, created_at: now, modified_at: now });
});

type Place = Pick<GatewayObjectRow, "account_id"> & Partial<Pick<GatewayObjectRow, "gateway_id" | "parent_id">>;

const objectRow = (
  deps: RecoveryDeps,
  kind: GatewayObjectKind,
  id: string,
  { account_id, gateway_id = "", parent_id = "" }: Place,
  value: object,
  offset = 0,
): GatewayObjectRow => {
  const now = timeOf(deps, offset);
  return { id, account_id, gateway_id, kind, parent_id, value: JSON.stringify(value), created_at: now, modified_at: now };
};

export const recoverProviderKeys = each("provider_key", async ({ db }, id, entry, deps) => {
  const { provider, alias, is_default, secret, rate_limit } = entry;
  const value: StoredProviderConfig = {
    ...{ alias, default_config: is_default, provider_slug: provider, secret },
    secret_preview: previewOf(openedText(deps, secret, `provider-key:${id}`) ?? ""),
    ...(rate_limit === undefined ? {} : { rate_limit: rate_limit.limit }),
    rate_limit_period: rate_limit?.interval_seconds ?? PERIOD_SECONDS,
  };
  await putGatewayObject(db, objectRow(deps, "provider_config", id, entry, value));
});

const PERIOD_SECONDS = 60;

/** Enabled ones, with their costs. */
export const recoverCustomProviders = each("custom_provider", async ({ db }, id, { account_id, slug, base_url, headers, costs }, deps) => {
  const value: StoredCustomProvider = { name: slug, slug, base_url, enable: true, ...(headers === undefined ? {} : { headers }) };
  await putGatewayObject(db, objectRow(deps, "custom_provider", id, { account_id }, value));
  for (const [index, cost] of costs.entries())
    await putGatewayObject(db, objectRow(deps, "custom_cost", randomUUID(), { account_id, parent_id: id }, storedCost(cost), index));
});

const storedCost = ({ model, rule, input, output, cache_read, cache_write, reasoning }: CustomCostEntry): StoredCustomCost => ({
  ...{ model, model_rule: rule, enable: true, cost_in: input, cost_out: output },
  token_pricing: {
    ...(cache_read === undefined ? {} : { input_cached_tokens: cache_read }),
    ...(cache_write === undefined ? {} : { input_cache_creation_tokens: cache_write }),
    ...(reasoning === undefined ? {} : { output_reasoning_tokens: reasoning }),
  },
});

/** Routes with the version that is deployed. */
export const recoverRoutes = each("gateway_route", async ({ db }, id, { account_id, gateway_id, name, elements }, deps) => {
  const below = { account_id, gateway_id, parent_id: id };
  const version = objectRow(deps, "route_version", newId(), below, { elements });
  const deployment = objectRow(deps, "route_deployment", newId(), below, { version_id: version.id });
  const deployed = { version_id: version.id, deployment_id: deployment.id, deployed_at: deployment.created_at };
  await putGatewayObject(db, objectRow(deps, "route", id, { account_id, gateway_id }, { name, elements, ...deployed }));
  await putGatewayObject(db, version);
  await putGatewayObject(db, deployment);
});

/** Profiles with the entries that were turned on, without their names. */
export const recoverDlpProfiles = each("dlp_profile", async ({ db }, id, { account_id, patterns, words = [] }, deps) => {
  const entries: StoredDlpProfile["entries"] = [
    ...patterns.map(({ id: entryId, name, pattern, validator }) => ({
      ...{ id: entryId, name, enabled: true },
      pattern: { regex: pattern, ...(validator === "luhn" ? { validation: validator } : {}) },
    })),
    ...words.map((list) => ({ id: list.id, name: list.name, enabled: true, words: [...list.words] })),
  ];
  const value: StoredDlpProfile = { name: `Recovered profile ${id.slice(0, 8)}`, description: null, entries };
  await putGatewayObject(db, objectRow(deps, "dlp_profile", id, { account_id }, value));
});
