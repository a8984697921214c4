/** Names of the AI gateway's built-in providers, as in paths; a test compares them with the gateway's table. */
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

/** Whether the name is a built-in provider or has the form of a custom one, `custom-{slug}`. */
export const isModelProvider = (name: string): boolean => MODEL_PROVIDERS.has(name) || /^custom-[a-z0-9]/.test(name);
