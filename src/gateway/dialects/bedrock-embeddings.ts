import { embeddingList, numbersIn, readEmbeddings } from "./embedding-list.ts";
import { type Json, listOf, objectOf, UntranslatableError } from "#gateway/http/json.ts";

const isCohere = (model: string): boolean => /(?:^|[./])cohere\./.test(model);

/** Bedrock has no common shape for embeddings; this writes those of Amazon Titan and of Cohere. Throws UntranslatableError. */
export function bedrockEmbeddingsRequest(value: unknown, model: string): Json {
  const { texts, dimensions } = readEmbeddings(value);
  if (isCohere(model))
    return {
      texts,
      input_type: "search_document",
      ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
    };
  const [inputText] = texts;
  if (inputText === undefined || texts.length > 1) throw new UntranslatableError("input must be one string for this model");
  return { inputText, ...(dimensions === undefined ? {} : { dimensions }) };
}

/** Undefined if the body has no embeddings. Newer models of Cohere name the type before the vectors. */
export function bedrockEmbeddingsAnswer(body: unknown, model: string, isBase64: boolean): Json | undefined {
  const answer = objectOf(body);
  const many = objectOf(answer?.["embeddings"])?.["float"] ?? answer?.["embeddings"];
  if (Array.isArray(many)) return embeddingList(listOf(many).map(numbersIn), model, isBase64, 0);
  const one = answer?.["embedding"];
  return Array.isArray(one) ? embeddingList([numbersIn(one)], model, isBase64, Number(answer?.["inputTextTokenCount"] ?? 0)) : undefined;
}
