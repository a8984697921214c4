import { anthropicAnswer, anthropicError } from "./anthropic-answer.ts";
import { anthropicRequest } from "./anthropic-request.ts";
import { AnthropicStream } from "./anthropic-stream.ts";
import type { Dialect } from "./dialect.ts";
import { googleAnswer, googleError } from "./google-answer.ts";
import { googleEmbeddingsAnswer, googleEmbeddingsRequest } from "./google-embeddings.ts";
import { googleRequest } from "./google-request.ts";
import { GoogleStream } from "./google-stream.ts";

/** How chat completions are said to providers that do not speak OpenAI's dialect, by provider. */
export const DIALECTS: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  [
    "anthropic",
    {
      path: () => "/v1/messages",
      keyHeader: "x-api-key",
      headers: { "anthropic-version": "2023-06-01" },
      request: anthropicRequest,
      answer: anthropicAnswer,
      error: anthropicError,
      stream: (facts) => new AnthropicStream(facts),
    },
  ],
  [
    "google-ai-studio",
    {
      path: (model, stream) =>
        `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      keyHeader: "x-goog-api-key",
      headers: {},
      request: googleRequest,
      answer: googleAnswer,
      error: googleError,
      stream: (facts) => new GoogleStream(facts),
      embeddings: {
        path: (model) => `/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
        request: googleEmbeddingsRequest,
        answer: googleEmbeddingsAnswer,
      },
    },
  ],
]);
