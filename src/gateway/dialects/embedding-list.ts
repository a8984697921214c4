import { type Json, Reader, UntranslatableError } from "#gateway/http/json.ts";

/** An embeddings request of OpenAI's shape. */
export interface EmbeddingsAsked {
  readonly texts: readonly string[];
  readonly dimensions: number | undefined;
}

/** Throws UntranslatableError if the input has no texts: tokens, which OpenAI takes as well, mean nothing to others. */
export function readEmbeddings(value: unknown): EmbeddingsAsked {
  const body = new Reader(value, "");
  const input = body.raw("input");
  const texts = typeof input === "string" ? [input] : (body.list("input") ?? []);
  if (texts.length === 0 || !texts.every((text) => typeof text === "string"))
    throw new UntranslatableError("input must be a string or an array of strings for this provider");
  return { texts, dimensions: body.number("dimensions") };
}

/** The answer in OpenAI's shape. `tokens`: of what was embedded; 0 where the provider counts none. */
export const embeddingList = (vectors: readonly (readonly number[])[], model: string, isBase64: boolean, tokens: number): Json => ({
  object: "list",
  data: vectors.map((values, index) => ({ object: "embedding", index, embedding: isBase64 ? base64Of(values) : values })),
  model,
  usage: { prompt_tokens: tokens, total_tokens: tokens },
});

export const numbersIn = (value: unknown): readonly number[] =>
  Array.isArray(value) ? value.filter((item): item is number => typeof item === "number") : [];

/** Clients of OpenAI ask for four bytes a number, little-endian, and decode them. */
function base64Of(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes.toString("base64");
}
