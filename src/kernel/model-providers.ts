/** Names of the providers that the AI gateway has in its table, as they stand in paths; a test holds both together. */
const MODEL_PROVIDERS: ReadonlySet<string> = new Set([
  "anthropic",
  "aws-bedrock",
  "azure-openai",
  "baseten",
  "cartesia",
  "cerebras",
  "cohere",
  "deepgram",
  "deepseek",
  "elevenlabs",
  "fal",
  "fireworks",
  "google-ai-studio",
  "google-vertex-ai",
  "grok",
  "groq",
  "huggingface",
  "ideogram",
  "mistral",
  "openai",
  "openrouter",
  "parallel",
  "perplexity-ai",
  "replicate",
  "xai",
]);

/** Whether requests can be sent to a provider of this name: one of the table, or `custom-{slug}`, which an account may add. */
export const isModelProvider = (name: string): boolean => MODEL_PROVIDERS.has(name) || /^custom-[a-z0-9]/.test(name);
