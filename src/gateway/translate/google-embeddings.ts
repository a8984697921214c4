import { type Json, objectOf, objectsOf, listOf, Reader, UntranslatableError } from "./json.ts";

/** An embeddings request of OpenAI's shape as one for a batch of contents. Throws UntranslatableError. */
export function googleEmbeddingsRequest(value: unknown, model: string): Json {
  const body = new Reader(value, "");
  const input = body.raw("input");
  const texts = typeof input === "string" ? [input] : (body.list("input") ?? []);
  if (texts.length === 0 || !texts.every((text) => typeof text === "string"))
    throw new UntranslatableError("input must be a string or an array of strings at this provider");
  const dimensions = body.number("dimensions");
  return {
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
    })),
  };
}

/** Undefined where the body has no embeddings. The provider counts no tokens, so none are told. */
export function googleEmbeddingsAnswer(body: unknown, model: string, isBase64: boolean): Json | undefined {
  const embeddings = objectOf(body)?.["embeddings"];
  if (!Array.isArray(embeddings)) return undefined;
  const data = objectsOf(embeddings).map((embedding, index) => {
    const values = listOf(embedding["values"]).filter((value) => typeof value === "number");
    return { object: "embedding", index, embedding: isBase64 ? base64Of(values) : values };
  });
  return { object: "list", data, model, usage: { prompt_tokens: 0, total_tokens: 0 } };
}

/** Clients of OpenAI ask for four bytes a number, little-endian, and decode them. */
function base64Of(values: readonly number[]): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes.toString("base64");
}
