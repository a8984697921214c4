import type { Clock } from "#kernel/clock.ts";
import type { Usage } from "#gateway/usage/usage-formats.ts";
import { answerFactor } from "./service-tiers.ts";
import { HOUR_WRITE_FACTOR, pricedModel, tunedFactor, unlistedAudio } from "./unlisted-prices.ts";

/** Prices of providers, from a table that the program includes. */
export interface Prices {
  /** Loads the table; undefined if it is already loaded. Never rejects. */
  load(): Promise<void> | undefined;
  /** US dollars for the tokens of one answer; null without a known price or without tokens. */
  cost(provider: string, model: string, usage: Usage): number | null;
  /** Models of a provider by the table's names; empty before the table is loaded. */
  listed(provider: string): readonly ListedPrice[];
}

/** Dollars per token; null if the price depends on the number of tokens. */
export interface ListedPrice {
  readonly name: string;
  readonly input: number | null;
  readonly output: number | null;
}

type Library = typeof import("@pydantic/genai-prices");
type ModelPrice = import("@pydantic/genai-prices").ModelPrice;
type Price = ModelPrice[string];

/** Providers by their names in the table; the table has no prices for other providers. */
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

/** Dollars per token; null if they depend on the number of tokens, or if no price is known. */
interface Rate {
  readonly perTokens: { readonly input: number; readonly output: number } | null;
  /** Dollars per million tokens, by the table's names; undefined if no price is known. */
  readonly prices: ModelPrice | undefined;
  readonly untilMs: number;
}

type Detail = Exclude<keyof Usage, "tokensIn" | "tokensOut" | "searches" | "tier" | "speed" | "geo" | "model" | "toldCost">;

/** Details of input and output with their own prices: our name, and the table's names of the count and of the price. */
const DETAILS: readonly (readonly [Detail, string, string])[] = [
  ["tokensCacheRead", "cache_read_tokens", "cache_read_mtok"],
  ["tokensCacheWrite", "cache_write_tokens", "cache_write_mtok"],
  ["tokensCacheWriteHour", "cache_write_1h_tokens", "cache_write_1h_mtok"],
  ["tokensReasoning", "output_reasoning_tokens", "output_reasoning_mtok"],
  ["tokensAudioIn", "input_audio_tokens", "input_audio_mtok"],
  ["tokensAudioCacheRead", "cache_audio_read_tokens", "cache_audio_read_mtok"],
  ["tokensAudioOut", "output_audio_tokens", "output_audio_mtok"],
  ["tokensImageIn", "input_image_tokens", "input_image_mtok"],
  ["tokensImageCacheRead", "cache_image_read_tokens", "cache_image_read_mtok"],
  ["tokensImageOut", "output_image_tokens", "output_image_mtok"],
];

/** A rate is computed again after this time, because some prices depend on date and hour. */
const RATE_MS = 600_000;
/** Bounded, because clients choose the names of models. */
const RATES_MAX = 2_000;
const MILLION = 1_000_000;

export interface PricesDeps {
  readonly clock: Clock;
  /** Imports the table; tests replace it. */
  readonly importTable?: () => Promise<Library>;
}

const importLibrary = (): Promise<Library> => import("@pydantic/genai-prices");

export function createPrices({ clock, importTable = importLibrary }: PricesDeps): Prices {
  let library: Library | undefined;
  let loading: Promise<void> | undefined;
  const rates = new Map<string, Rate>();

  const priceOf = (calcPrice: Library["calcPrice"], table: string, model: string, usage: Usage, prices: ModelPrice = {}) => {
    const counts: Record<string, number> = { input_tokens: usage.tokensIn ?? 0, output_tokens: usage.tokensOut ?? 0 };
    // The table wants to know each part that two counts have in common, also if it is 0.
    const known = withOverlaps(usage);
    for (const [detail, name, price] of DETAILS) if (price in prices) counts[name] = known[detail] ?? 0;
    return calcPrice(counts, pricedModel(table, model), { providerId: table, timestamp: new Date(clock.nowMs()) });
  };

  const rateOf = (calcPrice: Library["calcPrice"], table: string, model: string): Rate => {
    const key = `${table}\n${model}`;
    const nowMs = clock.nowMs();
    const kept = rates.get(key);
    if (kept !== undefined && kept.untilMs > nowMs && kept.untilMs <= nowMs + RATE_MS) return kept;
    const prices = priceOf(calcPrice, table, model, { tokensIn: 1, tokensOut: 1 })?.model_price;
    const { input_mtok: input, output_mtok: output } = prices ?? {};
    const perTokens = typeof input === "number" && typeof output === "number" ? { input: input / MILLION, output: output / MILLION } : null;
    const rate = { perTokens, prices, untilMs: nowMs + RATE_MS };
    const [oldest] = rates.size < RATES_MAX ? [] : rates.keys();
    if (oldest !== undefined) rates.delete(oldest);
    rates.set(key, rate);
    return rate;
  };

  return {
    load: () => {
      if (library !== undefined) return undefined;
      // Without the table costs are unknown; no request fails because of it.
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
        const { perTokens, prices } = rateOf(library.calcPrice, table, model);
        if (prices === undefined) return null;
        const tokens =
          perTokens === null || DETAILS.some(([detail, , price]) => usage[detail] && price in prices)
            ? priceOf(library.calcPrice, table, model, usage, prices)?.total_price
            : (usage.tokensIn ?? 0) * perTokens.input + (usage.tokensOut ?? 0) * perTokens.output + perThousand(prices["requests_kcount"]);
        if (tokens === undefined) return null;
        const all = tokens + unlisted(model, usage, prices);
        const factor = answerFactor(provider, model, usage) * tunedFactor(model);
        return rounded(all * factor + (usage.searches ?? 0) * perThousand(prices["web_searches_kcount"]));
      } catch {
        // Counts that contradict each other have no price.
        return null;
      }
    },
  };
}

/** Cached audio and images that the provider did not tell: no more than the other counts allow, since text is what caches hold most. */
function withOverlaps(usage: Usage): Usage {
  const inside = (of: number | null | undefined): number => Math.max(0, (usage.tokensCacheRead ?? 0) + (of ?? 0) - (usage.tokensIn ?? 0));
  return {
    ...usage,
    tokensAudioCacheRead: usage.tokensAudioCacheRead ?? inside(usage.tokensAudioIn),
    tokensImageCacheRead: usage.tokensImageCacheRead ?? inside(usage.tokensImageIn),
  };
}

const perThousand = (price: Price): number => (typeof price === "number" ? price / 1000 : 0);

/** Dollars per million tokens; tiers depend on the number of input tokens. */
function perMillion(price: Price, tokensIn: number): number {
  if (price === undefined || typeof price === "number") return price ?? 0;
  return price.tiers.findLast(({ start }) => tokensIn > start)?.price ?? price.base;
}

/** Dollars to add to the table's price, for details that the table has no price for. */
function unlisted(model: string, usage: Usage, prices: ModelPrice): number {
  const { tokensIn, tokensCacheWriteHour: hour, tokensAudioIn, tokensAudioOut } = usage;
  if (!hour && !tokensAudioIn && !tokensAudioOut) return 0;
  const of = (name: string): number => perMillion(prices[name], tokensIn ?? 0);
  let dollars = 0;
  if (hour && !("cache_write_1h_mtok" in prices))
    dollars += hour * (HOUR_WRITE_FACTOR * of("input_mtok") - of("cache_write_mtok" in prices ? "cache_write_mtok" : "input_mtok"));
  const audio = "input_audio_mtok" in prices || "output_audio_mtok" in prices ? undefined : unlistedAudio(model);
  if (audio !== undefined) {
    dollars += (tokensAudioIn ?? 0) * (audio.audioIn - of("input_mtok"));
    dollars += (tokensAudioOut ?? 0) * (audio.audioOut - of("output_mtok"));
  }
  return dollars / MILLION;
}

/** Rounds away the error of binary fractions. */
const rounded = (dollars: number): number => Math.round(dollars * 1e12) / 1e12;

/** Rounds away the error of the division by a million. */
const plain = (dollars: number): number => Number(dollars.toPrecision(12));
