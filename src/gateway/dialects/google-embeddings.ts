import { embeddingList, numbersIn, readEmbeddings } from "./embedding-list.ts";
import { type Json, objectOf, objectsOf } from "#gateway/http/json.ts";

/** An embeddings request of OpenAI's shape as one for a batch of contents. Throws UntranslatableError. */
export function googleEmbeddingsRequest(value: unknown, model: string): Json {
  const { texts, dimensions } = readEmbeddings(value);
  return {
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
    })),
  };
}

/** Undefined if the body has no embeddings. The provider does not count tokens, so the answer has none. */
export function googleEmbeddingsAnswer(body: unknown, model: string, isBase64: boolean): Json | undefined {
  const embeddings = objectOf(body)?.["embeddings"];
  if (!Array.isArray(embeddings)) return undefined;
  return embeddingList(
    objectsOf(embeddings).map(({ values }) => numbersIn(values)),
    model,
    isBase64,
    0,
  );
}

/** The same for Vertex AI, where a model predicts for instances. */
export function vertexEmbeddingsRequest(value: unknown): Json {
  const { texts, dimensions } = readEmbeddings(value);
  return {
    instances: texts.map((content) => ({ content })),
    ...(dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }),
  };
}

export function vertexEmbeddingsAnswer(body: unknown, model: string, isBase64: boolean): Json | undefined {
  const predictions = objectOf(body)?.["predictions"];
  if (!Array.isArray(predictions)) return undefined;
  const found = objectsOf(predictions).map((prediction) => objectOf(prediction["embeddings"]));
  const tokens = found.reduce((sum, embedding) => sum + Number(objectOf(embedding?.["statistics"])?.["token_count"] ?? 0), 0);
  return embeddingList(
    found.map((embedding) => numbersIn(embedding?.["values"])),
    model,
    isBase64,
    tokens,
  );
}
