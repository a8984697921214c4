import { Type, type Static } from "typebox";
import { HIDDEN } from "./gateway-otel.ts";

const Time = Type.String({ format: "date-time" });
const ProviderSlug = Type.String({ minLength: 1, maxLength: 80, pattern: "^[a-z0-9-]+$" });
const Alias = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9_.-]+$" });
/** Keys, and key files of cloud providers. */
const Secret = Type.String({ minLength: 1, maxLength: 16_384 });
const Limit = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const Period = Type.Integer({ minimum: 1, maximum: 31_536_000, default: 60 });

/** A provider key that a gateway stores; never shown again. */
export const ProviderConfig = Type.Object({
  id: Type.String(),
  alias: Type.String(),
  default_config: Type.Boolean(),
  gateway_id: Type.String(),
  provider_slug: Type.String(),
  rate_limit: Type.Optional(Limit),
  rate_limit_period: Type.Optional(Period),
  secret_id: Type.String(),
  secret_preview: Type.String(),
  modified_at: Time,
});
export type ProviderConfig = Static<typeof ProviderConfig>;

export const ProviderConfigCreate = Type.Object({
  alias: Alias,
  default_config: Type.Boolean(),
  provider_slug: ProviderSlug,
  rate_limit: Type.Optional(Limit),
  rate_limit_period: Type.Optional(Period),
  secret: Type.Optional(Secret),
  secret_id: Type.Optional(Type.String({ maxLength: 64, description: "The gateway stores keys itself: only an empty value is accepted." })),
});
export type ProviderConfigCreate = Static<typeof ProviderConfigCreate>;

export const ProviderConfigUpdate = Type.Object({ secret: Secret });

const ABOUT = {
  beta: Type.Optional(Type.Boolean()),
  curl_example: Type.Optional(Type.String({ maxLength: 8192 })),
  description: Type.Optional(Type.String({ maxLength: 2048 })),
  enable: Type.Optional(Type.Boolean()),
  headers: Type.Optional(
    Type.String({
      maxLength: 8192,
      description: `A JSON object of names and values of headers that the gateway adds to every request. Responses show values as ${HIDDEN}; send ${HIDDEN} to keep a value.`,
    }),
  ),
  js_example: Type.Optional(Type.String({ maxLength: 8192 })),
  link: Type.Optional(Type.String({ maxLength: 2048 })),
  logo: Type.Optional(Type.String({ maxLength: 65_536 })),
  position: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
};
const NAMED = {
  base_url: Type.String({ maxLength: 2048, format: "uri" }),
  name: Type.String({ minLength: 1, maxLength: 128 }),
  slug: Type.String({ minLength: 1, maxLength: 64, pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" }),
};

/** A custom provider of the account, used as `custom-{slug}`. */
export const CustomProviderCreate = Type.Object({ ...NAMED, ...ABOUT });
export type CustomProviderCreate = Static<typeof CustomProviderCreate>;
export const CustomProviderUpdate = Type.Partial(CustomProviderCreate);
export type CustomProviderUpdate = Static<typeof CustomProviderUpdate>;
export const CustomProvider = Type.Object({ id: Type.String({ format: "uuid" }), ...NAMED, ...ABOUT, created_at: Time, modified_at: Time });
export type CustomProvider = Static<typeof CustomProvider>;

const Dollars = Type.Number({ minimum: 0 });

/**
 * US dollars per token. Kinds without a price have that of `input_tokens` or `output_tokens`, or `total_tokens`.
 * Responses do not report tokens of audio, images and video separately, so they have no other price. Unknown names are
 * refused, because their tokens would be free.
 */
export const TokenPricing = Type.Partial(
  Type.Object({
    input_tokens: Dollars,
    output_tokens: Dollars,
    input_cached_tokens: Dollars,
    input_cache_creation_tokens: Dollars,
    input_audio_tokens: Dollars,
    input_image_count: Dollars,
    input_image_tokens: Dollars,
    input_text_tokens: Dollars,
    input_video_tokens: Dollars,
    output_image_count: Dollars,
    output_reasoning_tokens: Dollars,
    total_tokens: Dollars,
  }),
  { additionalProperties: false },
);
export type TokenPricing = Static<typeof TokenPricing>;

const COST = {
  cost_in: Type.Optional(Dollars),
  cost_out: Type.Optional(Dollars),
  cost_type: Type.Optional(Type.Literal("tokens")),
  enable: Type.Optional(Type.Boolean()),
  model_rule: Type.Optional(Type.Enum(["equals", "starts-with", "contains"], { default: "equals" })),
};
const Model = Type.String({ minLength: 1, maxLength: 256 });

export const CustomCostUpdate = Type.Object({ ...COST, model: Type.Optional(Model), token_pricing: Type.Optional(TokenPricing) });
export type CustomCostUpdate = Static<typeof CustomCostUpdate>;
export const CustomCostCreate = Type.Object({
  ...CustomCostUpdate.properties,
  account_provider_id: Type.String({ format: "uuid" }),
  model: Model,
});
export type CustomCostCreate = Static<typeof CustomCostCreate>;
/** `token_pricing` is JSON text in responses, as clients expect. */
export const CustomCost = Type.Object({
  id: Type.String({ format: "uuid" }),
  account_provider_id: Type.String({ format: "uuid" }),
  ...COST,
  model: Model,
  token_pricing: Type.Optional(Type.String()),
  created_at: Time,
  modified_at: Time,
});
export type CustomCost = Static<typeof CustomCost>;
