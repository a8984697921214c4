/** Prices that the table lacks, in dollars per million tokens. */
interface UnlistedPrice {
  readonly models: RegExp;
  readonly audioIn: number;
  readonly audioOut: number;
}

/** From OpenAI's price list (2025-12): the table has only text prices for these models. */
const AUDIO: readonly UnlistedPrice[] = [
  { models: /^gpt-4o-mini-audio/, audioIn: 10, audioOut: 20 },
  { models: /^gpt-4o-audio-preview-2024-10-01/, audioIn: 100, audioOut: 200 },
  { models: /^gpt-4o-audio/, audioIn: 40, audioOut: 80 },
];

export const unlistedAudio = (model: string): UnlistedPrice | undefined => AUDIO.find(({ models }) => models.test(model));

/**
 * Names that a provider has given to another model since, with that model, by the table's name of the provider: DeepSeek's
 * and Mistral's lists of models (2026-11). The table has the price of the model that had the name before.
 */
const MOVED_NAMES: ReadonlyMap<string, string> = new Map([
  ["deepseek/deepseek-chat", "deepseek-v4-flash"],
  ["deepseek/deepseek-reasoner", "deepseek-v4-flash"],
  ["mistral/mistral-large-latest", "mistral-large-2512"],
  ["mistral/mistral-large", "mistral-large-2512"],
]);

export const pricedModel = (table: string, model: string): string =>
  MOVED_NAMES.get(`${table}/${model}`) ?? (tunedRow(model) === undefined ? model : (model.split(":", 2)[1] ?? model));

/** Fine-tuned models that the table lacks, and their prices as a multiple of the base model's (OpenAI's price list, 2025-12). */
const TUNED: readonly (readonly [RegExp, number])[] = [
  [/^ft:gpt-4\.1-(?:mini|nano)/, 2],
  [/^ft:gpt-4\.1/, 1.5],
  [/^ft:o4-mini/, 40 / 11],
];

const tunedRow = (model: string): readonly [RegExp, number] | undefined => TUNED.find(([pattern]) => pattern.test(model));
export const tunedFactor = (model: string): number => tunedRow(model)?.[1] ?? 1;

/**
 * A cache write that is kept for an hour costs twice the input price, at every provider of such models (Anthropic's price
 * list).
 */
export const HOUR_WRITE_FACTOR = 2;
