import { anthropicAnswer, anthropicError } from "./anthropic-answer.ts";
import { anthropicHeaders, anthropicRequest, wholeMark } from "./anthropic-request.ts";
import { AnthropicStream } from "./anthropic-stream.ts";
import { bedrockAnswer, bedrockError } from "./bedrock-answer.ts";
import { bedrockRequest } from "./bedrock-request.ts";
import { BedrockStream } from "./bedrock-stream.ts";
import { bedrockModel, vertexModel } from "./cloud-models.ts";
import type { LocationFacts } from "#gateway/request/provider-location-facts.ts";
import type { Dialect } from "./dialect.ts";
import { googleAnswer, googleError } from "./google-answer.ts";
import { bedrockEmbeddingsAnswer, bedrockEmbeddingsRequest } from "./bedrock-embeddings.ts";
import { googleEmbeddingsAnswer, googleEmbeddingsRequest, vertexEmbeddingsAnswer, vertexEmbeddingsRequest } from "./google-embeddings.ts";
import { googleRequest, googleTier } from "./google-request.ts";
import { GoogleStream } from "./google-stream.ts";
import { UntranslatableError } from "#gateway/http/json.ts";

const ANTHROPIC: Dialect = {
  model: (model) => model,
  path: () => "/v1/messages",
  keyHeader: "x-api-key",
  headers: { "anthropic-version": "2023-06-01" },
  requestHeaders: anthropicHeaders,
  request: (chat, model) => ({ ...anthropicRequest(chat, model), ...wholeMark(chat) }),
  answer: anthropicAnswer,
  error: anthropicError,
  stream: (facts) => new AnthropicStream(facts),
};

const generating = (model: string, stream: boolean): string =>
  `models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;

const GOOGLE: Dialect = {
  model: (model) => model,
  path: (model, stream) => `/v1beta/${generating(model, stream)}`,
  keyHeader: "x-goog-api-key",
  headers: {},
  request: (chat, model) => ({ ...googleRequest(chat, model), ...googleTier(chat) }),
  answer: googleAnswer,
  error: googleError,
  stream: (facts) => new GoogleStream(facts),
  embeddings: {
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
    request: googleEmbeddingsRequest,
    answer: googleEmbeddingsAnswer,
  },
};

/** `/v1/projects/{project}/locations/{region}/publishers/{publisher}/`, from the model's name or from the key. */
function vertexBase(model: string, facts: LocationFacts): string {
  const { project = facts.project, region = facts.region ?? "global", publisher } = vertexModel(model);
  if (project === undefined)
    throw new UntranslatableError(
      "model: name the project, as in google-vertex-ai/projects/{project}/locations/{region}/publishers/{publisher}/models/{model}, or store a service account file",
    );
  return `/v1/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(region)}/publishers/${publisher}/`;
}

const VERTEX = { model: (model: string) => vertexModel(model).name, keyHeader: "authorization", isPlacedByKey: true } as const;

const VERTEX_GOOGLE: Dialect = {
  ...VERTEX,
  path: (model, stream, facts) => vertexBase(model, facts) + generating(vertexModel(model).name, stream),
  headers: {},
  request: googleRequest,
  answer: googleAnswer,
  error: googleError,
  stream: GOOGLE.stream,
  embeddings: {
    path: (model, facts) => `${vertexBase(model, facts)}models/${encodeURIComponent(vertexModel(model).name)}:predict`,
    request: vertexEmbeddingsRequest,
    answer: vertexEmbeddingsAnswer,
  },
};

const VERTEX_ANTHROPIC: Dialect = {
  ...VERTEX,
  path: (model, stream, facts) =>
    `${vertexBase(model, facts)}models/${encodeURIComponent(vertexModel(model).name)}:${stream ? "streamRawPredict" : "rawPredict"}`,
  headers: {},
  // At Vertex AI the path names the model, and the body the version.
  request: (chat, model) => {
    const { model: _, ...body } = anthropicRequest(chat, model);
    return { anthropic_version: "vertex-2023-10-16", ...body };
  },
  answer: anthropicAnswer,
  // Google itself answers if a request did not reach the model.
  error: (body, status) => (Array.isArray(body) ? googleError(body, status) : anthropicError(body, status)),
  stream: ANTHROPIC.stream,
};

const REGION_DEFAULT = "us-east-1";

function bedrockPath(model: string, facts: LocationFacts, operation: string): string {
  const { name, region = facts.region ?? REGION_DEFAULT } = bedrockModel(model);
  return `/bedrock-runtime/${region}/model/${encodeURIComponent(name)}/${operation}`;
}

const BEDROCK: Dialect = {
  model: (model) => bedrockModel(model).name,
  path: (model, stream, facts) => bedrockPath(model, facts, stream ? "converse-stream" : "converse"),
  keyHeader: "authorization",
  isPlacedByKey: true,
  headers: {},
  request: bedrockRequest,
  answer: bedrockAnswer,
  error: bedrockError,
  stream: (facts) => new BedrockStream(facts),
  embeddings: {
    path: (model, facts) => bedrockPath(model, facts, "invoke"),
    request: bedrockEmbeddingsRequest,
    answer: bedrockEmbeddingsAnswer,
  },
};

const VERTEX_PUBLISHERS: Readonly<Record<string, Dialect>> = { google: VERTEX_GOOGLE, anthropic: VERTEX_ANTHROPIC };

/** Dialects of providers that do not speak OpenAI's, by provider and, if it matters, model. */
const DIALECTS: Readonly<Record<string, (model: string) => Dialect | undefined>> = {
  anthropic: () => ANTHROPIC,
  "google-ai-studio": () => GOOGLE,
  "google-vertex-ai": (model) => VERTEX_PUBLISHERS[vertexModel(model).publisher],
  "aws-bedrock": () => BEDROCK,
};

/** Undefined if the provider takes requests of OpenAI's shape, or no chats. */
export const dialectOf = (provider: string, model: string): Dialect | undefined => DIALECTS[provider]?.(model);
