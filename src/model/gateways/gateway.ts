import { Dlp } from "./dlp.ts";
import { Guardrails } from "./guardrails.ts";
import { Type, type Static, type TSchema } from "typebox";
import { Otel, type StoredOtelEndpoint } from "./gateway-otel.ts";
import { SpendLimits } from "./spend-limits.ts";

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Seconds = Type.Integer({ minimum: 0, maximum: 31_536_000 });

/** A gateway's id, which is part of its request paths. */
export const GatewayId = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9_-]+$" });

/** Required on both create and update (contract.md §8). */
const REQUIRED = {
  cache_invalidate_on_update: Type.Boolean(),
  cache_ttl: Nullable(Seconds),
  collect_logs: Type.Boolean(),
  rate_limiting_interval: Nullable(Seconds),
  rate_limiting_limit: Nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000 })),
};

const CHOICES = {
  /** SPEC 2.9: Authenticated Gateway. */
  authentication: Type.Boolean({ default: false }),
  dlp: Nullable(Dlp),
  guardrails: Nullable(Guardrails),
  log_classification: Type.Boolean(),
  log_management: Nullable(Type.Integer({ minimum: 10_000, maximum: 10_000_000 })),
  log_management_strategy: Nullable(Type.Enum(["STOP_INSERTING", "DELETE_OLDEST"])),
  logpush: Type.Boolean({ default: false }),
  logpush_public_key: Nullable(Type.String({ minLength: 16, maxLength: 1024 })),
  otel: Nullable(Otel),
  rate_limiting_technique: Nullable(Type.Enum(["fixed", "sliding"])),
  retry_backoff: Nullable(Type.Enum(["constant", "linear", "exponential"])),
  retry_delay: Nullable(Type.Integer({ minimum: 0, maximum: 5000 })),
  retry_max_attempts: Nullable(Type.Integer({ minimum: 1, maximum: 5 })),
  spend_limits: Nullable(SpendLimits),
  store_id: Nullable(Type.String({ maxLength: 64 })),
  workers_ai_billing_mode: Type.Enum(["postpaid", "unified"]),
  zdr: Type.Boolean(),
};

/**
 * Settings that are refused because they would have no effect; only these values and null are accepted, and `why`
 * explains the refusal. Settings listed here that are not stored read as null.
 */
export const UNAVAILABLE_SETTINGS = {
  stripe: { taken: [], why: "the gateway does not bill" },
  log_classification: { taken: [false], why: "log classification is not supported" },
  store_id: { taken: [], why: "provider_configs store the keys themselves" },
  workers_ai_billing_mode: { taken: ["postpaid"], why: "the gateway does not bill" },
  zdr: { taken: [false], why: "the gateway does not know which providers retain no data" },
} as const satisfies Readonly<Record<string, { readonly taken: readonly unknown[]; readonly why: string }>>;

const OPTIONAL = Type.Partial(Type.Object(CHOICES));

export const GatewayUpdate = Type.Object({ ...REQUIRED, ...OPTIONAL.properties });
export type GatewayUpdate = Static<typeof GatewayUpdate>;

export const GatewayCreate = Type.Object({ id: GatewayId, ...REQUIRED, ...OPTIONAL.properties });
export type GatewayCreate = Static<typeof GatewayCreate>;

const Settings = Type.Object({ ...REQUIRED, ...CHOICES });
/** Stored in `gateways.settings`: every field has a value. */
export type GatewaySettings = Omit<Static<typeof Settings>, "otel"> & { readonly otel: readonly StoredOtelEndpoint[] | null };

export const Gateway = Type.Object({
  id: GatewayId,
  account_id: Type.String(),
  ...REQUIRED,
  ...CHOICES,
  dlp: Type.Optional(Dlp),
  stripe: Type.Null(),
  is_default: Type.Boolean(),
  created_at: Type.String({ format: "date-time" }),
  modified_at: Type.String({ format: "date-time" }),
});
export type Gateway = Static<typeof Gateway>;

const DEFAULTS: Omit<GatewaySettings, keyof typeof REQUIRED> = {
  authentication: false,
  dlp: null,
  guardrails: null,
  log_classification: false,
  log_management: null,
  log_management_strategy: null,
  logpush: false,
  logpush_public_key: null,
  otel: null,
  rate_limiting_technique: null,
  retry_backoff: null,
  retry_delay: null,
  retry_max_attempts: null,
  spend_limits: null,
  store_id: null,
  workers_ai_billing_mode: "postpaid",
  zdr: false,
};

/** Parses stored settings; settings that are newer than the row have their default. */
export const storedSettings = (text: string): GatewaySettings => ({ ...DEFAULTS, ...(JSON.parse(text) as GatewaySettings) });

/** A write with values in their stored form. */
export type GatewayWrite = Omit<GatewayUpdate, "otel"> & { readonly otel?: GatewaySettings["otel"] };

/** The settings after a write: omitted fields keep their value, or the default. */
export function gatewaySettings(write: GatewayWrite, before: GatewaySettings | null): GatewaySettings {
  const kept: GatewaySettings = {
    ...DEFAULTS,
    ...before,
    cache_invalidate_on_update: write.cache_invalidate_on_update,
    cache_ttl: write.cache_ttl,
    collect_logs: write.collect_logs,
    rate_limiting_interval: write.rate_limiting_interval,
    rate_limiting_limit: write.rate_limiting_limit,
  };
  const named = Object.entries(write).filter(([key, value]) => Object.hasOwn(CHOICES, key) && value !== undefined);
  return { ...kept, ...Object.fromEntries(named) };
}
