/** Tokens that one answer cost; null where the provider did not say. */
export interface Usage {
  /** All that went in, what the provider had in its cache included. */
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  /** Of what went in: read from the provider's own cache, and written to it. */
  readonly tokensCacheRead?: number | null;
  readonly tokensCacheWrite?: number | null;
  /** Of what came out: thoughts that the client does not see. */
  readonly tokensReasoning?: number | null;
}

export const NO_USAGE: Usage = { tokensIn: null, tokensOut: null };

/** How providers of one kind tell token counts: under which keys, and what the object there says. */
export interface UsageShape {
  readonly keys: readonly string[];
  /** What a stream tells before its end is not what came out. */
  readonly isCountedAtEnd?: boolean;
  /** Reads the object under one of the keys. */
  read(usage: Readonly<Record<string, unknown>>): Usage;
}

/** Of one answer; what is more is no count of tokens, and sums of such could not be kept. */
const TOKENS_MAX = 1e9;

const tokens = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null;

const within = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;

const sum = (...values: readonly unknown[]): number | null => {
  const known = values.map(tokens).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((all, value) => all + value, 0);
};

/** Chat completions and embeddings name them one way, responses the other. */
export const OPENAI_USAGE: UsageShape = {
  keys: ["usage"],
  read: (usage) => ({
    tokensIn: tokens(usage["prompt_tokens"] ?? usage["input_tokens"]),
    tokensOut: tokens(usage["completion_tokens"] ?? usage["output_tokens"]),
    tokensCacheRead: tokens(within(usage["prompt_tokens_details"] ?? usage["input_tokens_details"], "cached_tokens")),
    tokensReasoning: tokens(within(usage["completion_tokens_details"] ?? usage["output_tokens_details"], "reasoning_tokens")),
  }),
};

/** What was read from or written to the provider's own cache was sent all the same. */
export const ANTHROPIC_USAGE: UsageShape = {
  keys: ["usage"],
  isCountedAtEnd: true,
  read: (usage) => ({
    tokensIn: sum(usage["input_tokens"], usage["cache_creation_input_tokens"], usage["cache_read_input_tokens"]),
    tokensOut: tokens(usage["output_tokens"]),
    tokensCacheRead: tokens(usage["cache_read_input_tokens"]),
    tokensCacheWrite: tokens(usage["cache_creation_input_tokens"]),
    tokensReasoning: tokens(within(usage["output_tokens_details"], "thinking_tokens")),
  }),
};

/** Thoughts are paid for as what comes out is. */
export const GOOGLE_USAGE: UsageShape = {
  keys: ["usageMetadata"],
  read: (usage) => ({
    tokensIn: sum(usage["promptTokenCount"], usage["toolUsePromptTokenCount"]),
    tokensOut: sum(usage["candidatesTokenCount"], usage["thoughtsTokenCount"]),
    tokensCacheRead: tokens(usage["cachedContentTokenCount"]),
    tokensReasoning: tokens(usage["thoughtsTokenCount"]),
  }),
};

/** Models of several makers: each answers in the shape of its own. */
export const VERTEX_USAGE: UsageShape = {
  keys: ["usageMetadata", "usage"],
  isCountedAtEnd: true,
  read: (usage) => {
    if ("prompt_tokens" in usage || "completion_tokens" in usage) return OPENAI_USAGE.read(usage);
    return "input_tokens" in usage || "output_tokens" in usage ? ANTHROPIC_USAGE.read(usage) : GOOGLE_USAGE.read(usage);
  },
};

export const COHERE_USAGE: UsageShape = {
  keys: ["tokens"],
  read: (usage) => ({ tokensIn: tokens(usage["input_tokens"]), tokensOut: tokens(usage["output_tokens"]) }),
};

/** Models of several makers: their own shapes, and that of Converse. */
export const BEDROCK_USAGE: UsageShape = {
  keys: ["usage"],
  read: (usage) => {
    if (tokens(usage["inputTokens"]) === null && tokens(usage["outputTokens"]) === null) return ANTHROPIC_USAGE.read(usage);
    return {
      tokensIn: sum(usage["inputTokens"], usage["cacheReadInputTokens"], usage["cacheWriteInputTokens"]),
      tokensOut: tokens(usage["outputTokens"]),
      tokensCacheRead: tokens(usage["cacheReadInputTokens"]),
      tokensCacheWrite: tokens(usage["cacheWriteInputTokens"]),
    };
  },
};

/** Images, speech and predictions: nothing is counted in tokens. */
export const NO_USAGE_SHAPE: UsageShape = { keys: [], read: () => NO_USAGE };
