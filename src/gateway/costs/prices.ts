import type { Clock } from "#kernel/clock.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";

/** What providers charge, from a table that comes with the program. */
export interface Prices {
  /** Loads the table; undefined where it is there already. Never rejects. */
  load(): Promise<void> | undefined;
  /** US dollars for the tokens of one answer; null where no price is known, or no tokens. */
  cost(provider: string, model: string, usage: Usage): number | null;
  /** Models of a provider by the table's names; none before it is loaded. */
  listed(provider: string): readonly ListedPrice[];
}

/** Dollars a token; null where that depends on how many there are. */
export interface ListedPrice {
  readonly name: string;
  readonly input: number | null;
  readonly output: number | null;
}

type Library = typeof import("@pydantic/genai-prices");

/** Providers by their names in the table; those that are left out have no prices there. */
const TABLE_NAMES: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  "google-ai-studio": "google",
  "google-vertex-ai": "google",
  "azure-openai": "azure",
  "aws-bedrock": "aws",
  mistral: "mistral",
  groq: "groq",
  cohere: "cohere",
  deepseek: "deepseek",
  "perplexity-ai": "perplexity",
  openrouter: "openrouter",
  grok: "x-ai",
  xai: "x-ai",
  cerebras: "cerebras",
  fireworks: "fireworks",
};

/** Dollars a token where these do not depend on how many there are; null where they do, or no price is known. */
interface Rate {
  readonly perTokens: { readonly input: number; readonly output: number } | null;
  readonly isKnown: boolean;
  readonly untilMs: number;
}

/** Prices have days and hours from which they hold. */
const RATE_MS = 600_000;
/** Models are named by clients. */
const RATES_MAX = 2_000;
const MILLION = 1_000_000;

export interface PricesDeps {
  readonly clock: Clock;
  /** Where the table comes from, where it is to come from elsewhere. */
  readonly importTable?: () => Promise<Library>;
}

const importLibrary = (): Promise<Library> => import("@pydantic/genai-prices");

export function createPrices({ clock, importTable = importLibrary }: PricesDeps): Prices {
  let library: Library | undefined;
  let loading: Promise<void> | undefined;
  const rates = new Map<string, Rate>();

  const priceOf = (calcPrice: Library["calcPrice"], table: string, model: string, usage: Usage) =>
    calcPrice(
      {
        input_tokens: usage.tokensIn ?? 0,
        output_tokens: usage.tokensOut ?? 0,
        cache_read_tokens: usage.tokensCacheRead ?? 0,
        cache_write_tokens: usage.tokensCacheWrite ?? 0,
      },
      model,
      { providerId: table, timestamp: new Date(clock.nowMs()) },
    );

  const rateOf = (calcPrice: Library["calcPrice"], table: string, model: string): Rate => {
    const key = `${table}\n${model}`;
    const nowMs = clock.nowMs();
    const kept = rates.get(key);
    if (kept !== undefined && kept.untilMs > nowMs && kept.untilMs <= nowMs + RATE_MS) return kept;
    const price = priceOf(calcPrice, table, model, { tokensIn: 1, tokensOut: 1 });
    const { input_mtok: input, output_mtok: output } = price?.model_price ?? {};
    const perTokens = typeof input === "number" && typeof output === "number" ? { input: input / MILLION, output: output / MILLION } : null;
    const rate = { perTokens, isKnown: price !== null, untilMs: nowMs + RATE_MS };
    const [oldest] = rates.size < RATES_MAX ? [] : rates.keys();
    if (oldest !== undefined) rates.delete(oldest);
    rates.set(key, rate);
    return rate;
  };

  return {
    load: () => {
      if (library !== undefined) return undefined;
      // Without the table costs are unknown; no request fails for it.
      return (loading ??= importTable().then(
        (loaded) => void (library = loaded),
        () => undefined,
      ));
    },
    listed: (provider) => {
      const table = TABLE_NAMES[provider];
      if (library === undefined || table === undefined) return [];
      const { calcPrice, findProvider } = library;
      const models = findProvider({ providerId: table })?.models ?? [];
      return models.map(({ id }) => {
        const { perTokens } = rateOf(calcPrice, table, id);
        return { name: id, input: perTokens && plain(perTokens.input), output: perTokens && plain(perTokens.output) };
      });
    },
    cost: (provider, model, usage) => {
      const table = TABLE_NAMES[provider];
      if (library === undefined || table === undefined || model === "" || (usage.tokensIn === null && usage.tokensOut === null))
        return null;
      try {
        const { perTokens, isKnown } = rateOf(library.calcPrice, table, model);
        if (!isKnown) return null;
        const isPlain = perTokens !== null && !usage.tokensCacheRead && !usage.tokensCacheWrite;
        if (isPlain) return rounded((usage.tokensIn ?? 0) * perTokens.input + (usage.tokensOut ?? 0) * perTokens.output);
        const price = priceOf(library.calcPrice, table, model, usage);
        return price === null ? null : rounded(price.total_price);
      } catch {
        // Counts that contradict each other have no price.
        return null;
      }
    },
  };
}

/** Sums of binary fractions end in noise that no provider charges. */
const rounded = (dollars: number): number => Math.round(dollars * 1e12) / 1e12;

/** Without what a division by a million leaves at the end. */
const plain = (dollars: number): number => Number(dollars.toPrecision(12));
