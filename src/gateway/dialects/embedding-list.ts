import { type Json, Reader, UntranslatableError } from "#gateway/http/json.ts";

/** An embeddings request of OpenAI's shape. */
export interface EmbeddingsRequest {
  readonly texts: readonly string[];
  readonly dimensions: number | undefined;
}

/** Throws UntranslatableError if the input has no texts: OpenAI also takes tokens, which other providers cannot read. */
export function readEmbeddings(value: unknown): EmbeddingsRequest {
  const body = new Reader(value, "");
  const input = body.raw("input");
  const texts = typeof input === "string" ? [input] : (body.list("input") ?? []);
  if (texts.length === 0 || !texts.every((text) => typeof text === "string"))
    throw new UntranslatableError("input must be a string or an array of strings for this provider");
  return { texts, dimensions: body.number("dimensions") };
}

/** The answer in OpenAI's shape. `tokens`: input tokens; 0 if the provider does not count them. */
export const embeddingList = (vectors: readonly (readonly number[])[], model: string, isBase64: boolean, tokens: number): Json => ({
  object: "list",
  data: vectors.map((values, index) => ({ object: "embedding", index, embedding: isBase64 ? base64Of(values) : values })),
  model,
  usage: { prompt_tokens: tokens, total_tokens: tokens },
});

export const numbersIn = (value: unknown): readonly number[] =>
  Array.isArray(value) ? value.filter((item): item is number => typeof item === "number") : [];

/** OpenAI clients ask for base64 of four-byte little-endian floats. */
function base64Of(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes.toString("base64");
}
