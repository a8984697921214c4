/** Providers by the name that paths and models have, as people call them. */
export const KNOWN_PROVIDERS: readonly (readonly [name: string, title: string])[] = [
  ["openai", "OpenAI"],
  ["anthropic", "Anthropic"],
  ["google-ai-studio", "Google AI Studio"],
  ["google-vertex-ai", "Google Vertex AI"],
  ["aws-bedrock", "Amazon Bedrock"],
  ["azure-openai", "Azure OpenAI"],
  ["mistral", "Mistral"],
  ["groq", "Groq"],
  ["openrouter", "OpenRouter"],
  ["baseten", "Baseten"],
  ["cartesia", "Cartesia"],
  ["cerebras", "Cerebras"],
  ["cohere", "Cohere"],
  ["deepgram", "Deepgram"],
  ["deepseek", "DeepSeek"],
  ["elevenlabs", "ElevenLabs"],
  ["fal", "Fal"],
  ["fireworks", "Fireworks"],
  ["huggingface", "Hugging Face"],
  ["ideogram", "Ideogram"],
  ["parallel", "Parallel"],
  ["perplexity-ai", "Perplexity"],
  ["replicate", "Replicate"],
  ["xai", "xAI"],
];

const TITLES: ReadonlyMap<string, string> = new Map(KNOWN_PROVIDERS);

export const providerTitle = (name: string): string => TITLES.get(name) ?? name;

/** The forms of keys that are more than one word. */
export const keyHint = (name: string): string =>
  name === "aws-bedrock"
    ? 'JSON: {"access_key_id": "…", "secret_access_key": "…", "region": "us-east-1"}'
    : name === "google-vertex-ai"
      ? "The service account file, to which you may add a region."
      : "Sealed at once. Nobody can read it afterwards.";
