import { dlpPolicies } from "#model/gateways/dlp.ts";
import type { GatewaySettings } from "#model/gateways/gateway.ts";
import type { StoredSpendLimits } from "#model/gateways/spend-limits.ts";
import type { GatewayEntry } from "../entries.ts";

export interface GatewayColumns {
  readonly account_id: string;
  readonly id: string;
  readonly settings: string;
  readonly created_at: string;
  readonly modified_at: string;
}

export function gatewayEntry(row: GatewayColumns): GatewayEntry {
  const settings = JSON.parse(row.settings) as GatewaySettings;
  const { rate_limiting_limit: limit, rate_limiting_interval: interval_seconds, rate_limiting_technique: technique } = settings;
  return {
    account_id: row.account_id,
    gateway_id: row.id,
    authentication: settings.authentication,
    collect_logs: settings.collect_logs,
    ...logLimitOf(settings),
    // Clients turn it off with zero.
    ...(limit && interval_seconds ? { rate_limit: { limit, interval_seconds, technique: technique ?? "fixed" } } : {}),
    ...retryOf(settings),
    ...spendRulesOf(settings),
    ...dlpOf(settings),
    ...guardrailsOf(settings),
    ...otelOf(settings),
    // Answers of a former gateway of that name do not belong to this one.
    cache_epoch: settings.cache_invalidate_on_update ? row.modified_at : row.created_at,
    ...(settings.cache_ttl ? { cache: { ttl_seconds: settings.cache_ttl } } : {}),
  };
}

function guardrailsOf({ guardrails }: GatewaySettings): Pick<GatewayEntry, "guardrails"> {
  const { prompt = {}, response = {} } = guardrails ?? {};
  return Object.keys(prompt).length + Object.keys(response).length === 0 ? {} : { guardrails: { prompt, response } };
}

function otelOf({ otel }: GatewaySettings): Pick<GatewayEntry, "otel"> {
  if ((otel ?? []).length === 0) return {};
  return { otel: (otel ?? []).map(({ url, content_type, secret }) => ({ url, content_type, secret })) };
}

function dlpOf({ dlp }: GatewaySettings): Pick<GatewayEntry, "dlp"> {
  const policies = dlpPolicies(dlp ?? null);
  return policies.length === 0 ? {} : { dlp: policies.map(({ id, action, check, profiles }) => ({ id, action, check, profiles })) };
}

/** Without a strategy no further row is kept, so that rows are deleted only by explicit choice. */
const logLimitOf = ({ log_management: rows_max, log_management_strategy: strategy }: GatewaySettings): Pick<GatewayEntry, "log_limit"> =>
  rows_max === null ? {} : { log_limit: { rows_max, strategy: strategy ?? "STOP_INSERTING" } };

/** The rules in force, with the filters that have values. */
function spendRulesOf({ spend_limits }: GatewaySettings): Pick<GatewayEntry, "spend_rules"> {
  const rules = spend_limits?.enabled === true ? (spend_limits as StoredSpendLimits).rules.filter(({ enabled }) => enabled) : [];
  if (rules.length === 0) return {};
  return {
    spend_rules: rules.map(({ id, limit, window, technique, provider, model, metadata = {} }) => ({
      id,
      limit,
      window_seconds: window,
      technique,
      ...(provider === undefined ? {} : { provider: provider.values }),
      ...(model === undefined ? {} : { model: model.values }),
      metadata: Object.entries(metadata).map(([name, condition]) => ({
        name,
        ...(condition.mode === "filter" ? { values: condition.values } : {}),
      })),
    })),
  };
}

function retryOf({ retry_max_attempts, retry_delay, retry_backoff }: GatewaySettings): Pick<GatewayEntry, "retry"> {
  if (retry_max_attempts === null && retry_delay === null && retry_backoff === null) return {};
  return {
    retry: {
      ...(retry_max_attempts === null ? {} : { max_attempts: retry_max_attempts }),
      ...(retry_delay === null ? {} : { delay_ms: retry_delay }),
      ...(retry_backoff === null ? {} : { backoff: retry_backoff }),
    },
  };
}

/** The id of a gateway's entry: gateway ids are unique within their account only. */
export const gatewayEntryId = (row: { readonly account_id: string; readonly id: string }): string => `${row.account_id}/${row.id}`;
