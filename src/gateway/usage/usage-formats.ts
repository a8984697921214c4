/** Tokens of one answer; null if the provider did not report them. */
export interface Usage {
  /** All input tokens, with those in the provider's cache. */
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  /** Part of the input: read from the provider's cache, and written to it. */
  readonly tokensCacheRead?: number | null;
  readonly tokensCacheWrite?: number | null;
  /** Part of the cache writes: kept for an hour, at a higher price than those kept for minutes. */
  readonly tokensCacheWriteHour?: number | null;
  /** Part of the output: thoughts that the client does not see. */
  readonly tokensReasoning?: number | null;
  /** Audio and images in the input, in the cache reads and in the output, with their own prices. */
  readonly tokensAudioIn?: number | null;
  readonly tokensAudioCacheRead?: number | null;
  readonly tokensAudioOut?: number | null;
  readonly tokensImageIn?: number | null;
  readonly tokensImageCacheRead?: number | null;
  readonly tokensImageOut?: number | null;
  /** Searches of the provider, which cost extra. */
  readonly searches?: number | null;
  /** The answer's service tier, as the provider names it, in lower case. */
  readonly tier?: string | null;
  /** How fast and where the provider computed the answer, as it names both, if that has a price. */
  readonly speed?: string | null;
  readonly geo?: string | null;
  /** The model by the answer, if requests name it in the customer's words. */
  readonly model?: string | null;
  /** US dollars, if the provider reports the cost of the answer. */
  readonly toldCost?: number | null;
}

export const NO_USAGE: Usage = { tokensIn: null, tokensOut: null };

/** The format in which providers of one kind report token counts: the keys, and the reader of the object there. */
export interface UsageShape {
  readonly keys: readonly string[];
  /** Whether output counts are right only at the end of a stream. */
  readonly isCountedAtEnd?: boolean;
  /** Reads the object under one of the keys. */
  read(usage: ReportedUsage): Usage;
  /** Members that answers have beside the counts, and a reader of a whole answer or event that has one of them. */
  readonly beside?: { readonly keys: readonly string[]; read(answer: ReportedUsage): Partial<Usage> };
}

export type ReportedUsage = Readonly<Record<string, unknown>>;

/** Limit of one answer; a larger number is not a token count, and sums of such numbers would lose precision. */
const TOKENS_MAX = 1e9;

const tokens = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null;

const within = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as ReportedUsage)[key] : undefined;

const sum = (...values: readonly unknown[]): number | null => {
  const known = values.map(tokens).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((all, value) => all + value, 0);
};

/** More than any answer costs; sums of larger amounts would lose precision. */
const DOLLARS_MAX = 1e6;

const dollars = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= DOLLARS_MAX ? value : null;

const TIER_CHARACTERS_MAX = 64;

/** A tier or another word of the provider is a text, or an object with the word as its `type`. */
const tierName = (value: unknown): string | null => {
  const name = within(value, "type") ?? value;
  return typeof name === "string" && name.length <= TIER_CHARACTERS_MAX ? name.toLowerCase() : null;
};

/**
 * Output tokens with thoughts. Some providers count thoughts beside the completion: then the output is the total minus
 * the input; without a total, thoughts are added if they exceed the completion that they should be a part of.
 */
function outOf(into: number | null, out: number | null, thoughts: number | null, total: number | null): number | null {
  if (out === null) return null;
  if (total !== null && into !== null) return total > into + out ? total - into : withThoughts(out, thoughts);
  return withThoughts(out, thoughts);
}

const withThoughts = (out: number, thoughts: number | null): number => (thoughts !== null && thoughts > out ? out + thoughts : out);

const openAiTier = (answer: ReportedUsage): string | null => tierName(within(answer["response"], "service_tier") ?? answer["service_tier"]);

/** Chat completions and embeddings have one set of names, responses another, and speech sessions a third. */
export const OPENAI_USAGE: UsageShape = {
  keys: ["usage"],
  beside: { keys: ["service_tier"], read: (answer) => ({ tier: openAiTier(answer) }) },
  read: (usage) => {
    const inDetails = usage["prompt_tokens_details"] ?? usage["input_tokens_details"] ?? usage["input_token_details"];
    const outDetails = usage["completion_tokens_details"] ?? usage["output_tokens_details"] ?? usage["output_token_details"];
    const tokensIn = tokens(usage["prompt_tokens"] ?? usage["input_tokens"]);
    const tokensOut = tokens(usage["completion_tokens"] ?? usage["output_tokens"]);
    const tokensReasoning = tokens(within(outDetails, "reasoning_tokens") ?? usage["reasoning_tokens"]);
    return {
      tokensIn,
      tokensOut: outOf(tokensIn, tokensOut, tokensReasoning, tokens(usage["total_tokens"])),
      tokensCacheRead: tokens(within(inDetails, "cached_tokens") ?? usage["prompt_cache_hit_tokens"]),
      tokensReasoning,
      tokensAudioIn: tokens(within(inDetails, "audio_tokens")),
      tokensAudioCacheRead: tokens(within(within(inDetails, "cached_tokens_details"), "audio_tokens")),
      tokensAudioOut: tokens(within(outDetails, "audio_tokens")),
      tokensImageIn: tokens(within(inDetails, "image_tokens")),
      tokensImageCacheRead: tokens(within(within(inDetails, "cached_tokens_details"), "image_tokens")),
      tokensImageOut: tokens(within(outDetails, "image_tokens")),
    };
  },
};

/** The same with the model: requests name a deployment, which has any name. */
export const AZURE_USAGE: UsageShape = {
  ...OPENAI_USAGE,
  beside: {
    keys: ["service_tier", "model"],
    read: (answer) => ({ tier: openAiTier(answer), model: tierName(within(answer["response"], "model") ?? answer["model"]) }),
  },
};

/** The same with the cost in dollars; with the customer's own key at another provider, that provider's cost is added. */
export const OPENROUTER_USAGE: UsageShape = {
  ...OPENAI_USAGE,
  read: (usage) => {
    const elsewhere = usage["is_byok"] === true ? (dollars(within(usage["cost_details"], "upstream_inference_cost")) ?? 0) : 0;
    const cost = dollars(usage["cost"]);
    return { ...OPENAI_USAGE.read(usage), toldCost: cost === null ? null : cost + elsewhere };
  },
};

/** The same with the dollars in an object, and with searches. */
export const PERPLEXITY_USAGE: UsageShape = {
  ...OPENAI_USAGE,
  read: (usage) => ({
    ...OPENAI_USAGE.read(usage),
    searches: tokens(usage["num_search_queries"]),
    toldCost: dollars(within(usage["cost"], "total_cost")),
  }),
};

const TICKS_A_DOLLAR = 1e10;

/** The same with the cost in ticks. */
export const XAI_USAGE: UsageShape = {
  ...OPENAI_USAGE,
  read: (usage) => {
    const ticks = usage["cost_in_usd_ticks"];
    return { ...OPENAI_USAGE.read(usage), toldCost: typeof ticks === "number" ? dollars(ticks / TICKS_A_DOLLAR) : null };
  },
};

const isOpenAi = (usage: ReportedUsage): boolean => "prompt_tokens" in usage || "completion_tokens" in usage;

/** Tokens read from or written to the provider's cache are also input tokens. */
export const ANTHROPIC_USAGE: UsageShape = {
  keys: ["usage"],
  isCountedAtEnd: true,
  read: (usage) => {
    if (isOpenAi(usage)) return OPENAI_USAGE.read(usage);
    const written = usage["cache_creation"];
    const hour = tokens(within(written, "ephemeral_1h_input_tokens"));
    const tokensCacheWrite = tokens(usage["cache_creation_input_tokens"]) ?? sum(hour, within(written, "ephemeral_5m_input_tokens"));
    return {
      tokensIn: sum(usage["input_tokens"], tokensCacheWrite, usage["cache_read_input_tokens"]),
      tokensOut: tokens(usage["output_tokens"]),
      tokensCacheRead: tokens(usage["cache_read_input_tokens"]),
      tokensCacheWrite,
      tokensCacheWriteHour: hour,
      tokensReasoning: tokens(within(usage["output_tokens_details"], "thinking_tokens")),
      searches: tokens(within(usage["server_tool_use"], "web_search_requests")),
      tier: tierName(usage["service_tier"]),
      speed: tierName(usage["speed"]),
      geo: tierName(usage["inference_geo"]),
    };
  },
};

/** Tokens of one kind in `[{"modality":"AUDIO","tokenCount":1}]`. */
const ofModality = (details: unknown, modality: string): number | null =>
  Array.isArray(details)
    ? sum(...details.filter((detail) => within(detail, "modality") === modality).map((detail) => within(detail, "tokenCount")))
    : null;

/** Thoughts have the price of output tokens. */
export const GOOGLE_USAGE: UsageShape = {
  keys: ["usageMetadata", "usage"],
  read: (usage) => {
    if (isOpenAi(usage)) return OPENAI_USAGE.read(usage);
    return {
      tokensIn: sum(usage["promptTokenCount"], usage["toolUsePromptTokenCount"]),
      tokensOut: sum(usage["candidatesTokenCount"], usage["thoughtsTokenCount"]),
      tokensCacheRead: tokens(usage["cachedContentTokenCount"]),
      tokensReasoning: tokens(usage["thoughtsTokenCount"]),
      tokensAudioIn: ofModality(usage["promptTokensDetails"], "AUDIO"),
      tokensAudioCacheRead: ofModality(usage["cacheTokensDetails"], "AUDIO"),
      tokensAudioOut: ofModality(usage["candidatesTokensDetails"], "AUDIO"),
      tokensImageIn: ofModality(usage["promptTokensDetails"], "IMAGE"),
      tokensImageCacheRead: ofModality(usage["cacheTokensDetails"], "IMAGE"),
      tokensImageOut: ofModality(usage["candidatesTokensDetails"], "IMAGE"),
      tier: tierName(usage["serviceTier"] ?? usage["trafficType"]),
    };
  },
};

/** Models of several makers, each with its own format. */
export const VERTEX_USAGE: UsageShape = {
  keys: ["usageMetadata", "usage"],
  isCountedAtEnd: true,
  read: (usage) => ("input_tokens" in usage || "output_tokens" in usage ? ANTHROPIC_USAGE.read(usage) : GOOGLE_USAGE.read(usage)),
};

/** Billed tokens are reported beside all tokens that the model read; the key is the last one, because the last match counts. */
export const COHERE_USAGE: UsageShape = {
  keys: ["usage", "tokens", "billed_units"],
  read: OPENAI_USAGE.read,
};

const ofTtl = (details: unknown, ttl: string): number | null =>
  Array.isArray(details)
    ? sum(...details.filter((detail) => within(detail, "ttl") === ttl).map((detail) => within(detail, "inputTokens")))
    : null;

/** Models of several makers: their own formats, and that of Converse. */
export const BEDROCK_USAGE: UsageShape = {
  keys: ["usage"],
  beside: {
    keys: ["service_tier", "serviceTier"],
    read: (answer) => ({ tier: tierName(answer["serviceTier"] ?? answer["service_tier"]) }),
  },
  read: (usage) => {
    if (tokens(usage["inputTokens"]) === null && tokens(usage["outputTokens"]) === null) return ANTHROPIC_USAGE.read(usage);
    return {
      tokensIn: sum(usage["inputTokens"], usage["cacheReadInputTokens"], usage["cacheWriteInputTokens"]),
      tokensOut: tokens(usage["outputTokens"]),
      tokensCacheRead: tokens(usage["cacheReadInputTokens"]),
      tokensCacheWrite: tokens(usage["cacheWriteInputTokens"]),
      tokensCacheWriteHour: ofTtl(usage["cacheDetails"], "1h"),
    };
  },
};

/** Images, speech and predictions, which are not counted in tokens. */
export const NO_USAGE_SHAPE: UsageShape = { keys: [], read: () => NO_USAGE };
