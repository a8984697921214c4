import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { PROVIDERS } from "#gateway/providers/providers.ts";
import type { Step } from "#gateway/request/plan.ts";
import { UsageReader } from "#gateway/usage/usage.ts";
import { createCosts } from "./costs.ts";
import { createPrices } from "./prices.ts";

const prices = createPrices({ clock: fixedClock("2026-11-01T12:00:00Z") });
await prices.load();
const costs = createCosts(prices);

/** Cost of an answer, which must be equal for the whole answer and for a stream of events. */
function costOf(place: string, model: string, answer: object): number | null {
  const [provider = "", region = "global"] = place.split("@");
  const path = `/v1/projects/p/locations/${region}/publishers/anthropic/models/${model}:rawPredict`;
  const row = PROVIDERS.get(provider);
  assert.ok(row, provider);
  const read = (type: string, text: string): number | null => {
    const reader = new UsageReader(row.usage, type, undefined);
    reader.chunk(Buffer.from(text));
    return costs.of({ provider, model, path, options: {} } as unknown as Step, reader.end(), false).cost;
  };
  const whole = read("application/json", JSON.stringify(answer));
  assert.equal(
    read("text/event-stream", `data: {"choices":[]}\n\ndata: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`),
    whole,
    "as events",
  );
  return whole;
}

const MILLION = 1_000_000;
const openAi = (more: object = {}): object => ({ prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100, ...more });
const anthropic = (more: object): object => ({ usage: { input_tokens: 0, output_tokens: 0, ...more } });
const google = (more: object): object => ({ usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 1000, ...more } });
const written = {
  cache_creation_input_tokens: MILLION,
  cache_creation: { ephemeral_5m_input_tokens: 600_000, ephemeral_1h_input_tokens: 400_000 },
};
const converse = {
  usage: { inputTokens: 0, outputTokens: 0, cacheWriteInputTokens: MILLION, cacheDetails: [{ ttl: "1h", inputTokens: 400_000 }] },
};

/** Provider, model, answer, and US dollars by the provider's price list. */
const ROWS: Readonly<Record<string, readonly (readonly [string, string, object, number])[]>> = {
  "cache writes, for minutes and for an hour": [
    ["anthropic", "claude-opus-4-5", anthropic({ cache_creation_input_tokens: MILLION }), 6.25],
    ["anthropic", "claude-opus-4-5", anthropic(written), 7.75],
    ["anthropic", "claude-opus-4-5", anthropic({ ...written, cache_creation_input_tokens: undefined }), 7.75],
    ["google-vertex-ai", "claude-opus-4-5", anthropic(written), 7.75],
    ["aws-bedrock", "anthropic.claude-opus-4-5-20251101-v1:0", anthropic(written), 8.525],
    ["aws-bedrock", "anthropic.claude-opus-4-5-20251101-v1:0", converse, 8.525],
  ],
  "thoughts within the completion, and beside it": [
    ["openai", "gpt-5", { usage: openAi({ completion_tokens_details: { reasoning_tokens: 90 } }) }, 0.00225],
    [
      "openai",
      "gpt-5",
      { usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100, output_tokens_details: { reasoning_tokens: 90 } } },
      0.00225,
    ],
    ["xai", "grok-4", { usage: openAi({ total_tokens: 1600, completion_tokens_details: { reasoning_tokens: 500 } }) }, 0.012],
    ["grok", "grok-4", { usage: openAi({ total_tokens: undefined, completion_tokens_details: { reasoning_tokens: 500 } }) }, 0.012],
    ["google-ai-studio", "gemini-2.5-flash", { usage: openAi({ total_tokens: 1600 }) }, 0.0018],
    ["google-ai-studio", "gemini-2.5-flash", google({ candidatesTokenCount: 100, thoughtsTokenCount: 500 }), 0.0018],
    ["perplexity-ai", "sonar-deep-research", { usage: openAi({ reasoning_tokens: 10_000 }) }, 0.0328],
  ],
  "what the provider told": [
    ["openrouter", "openai/gpt-4o", { usage: openAi({ cost: 0.0042 }) }, 0.0042],
    ["openrouter", "no/such-model", { usage: openAi({ cost: 0 }) }, 0],
    [
      "openrouter",
      "openai/gpt-4o",
      { usage: openAi({ cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } }) },
      0.021,
    ],
    [
      "openrouter",
      "openai/gpt-4o",
      { usage: openAi({ cost: 0.02, is_byok: false, cost_details: { upstream_inference_cost: 0.02 } }) },
      0.02,
    ],
    ["perplexity-ai", "sonar", { usage: openAi({ cost: { request_cost: 0.005, total_cost: 0.0061 } }) }, 0.0061],
    ["xai", "grok-4", { usage: openAi({ cost_in_usd_ticks: 37_756_000 }) }, 0.0037756],
    ["grok", "grok-4", { usage: openAi({ cost_in_usd_ticks: 37_756_000 }) }, 0.0037756],
  ],
  "what no answer costs is not believed": [
    ["openrouter", "openai/gpt-4o", { usage: openAi({ cost: -1 }) }, 0.0035],
    ["openrouter", "openai/gpt-4o", { usage: openAi({ cost: 1e9 }) }, 0.0035],
    ["openai", "gpt-4o", { usage: openAi({ cost: 0 }) }, 0.0035],
  ],
  "what is billed": [
    [
      "cohere",
      "command-a-03-2025",
      { usage: { billed_units: { input_tokens: 1000, output_tokens: 100 }, tokens: { input_tokens: 1500, output_tokens: 120 } } },
      0.0035,
    ],
    [
      "cohere",
      "command-a-03-2025",
      { meta: { tokens: { input_tokens: 1500, output_tokens: 120 }, billed_units: { input_tokens: 1000, output_tokens: 100 } } },
      0.0035,
    ],
    ["cohere", "command-a-03-2025", { usage: { tokens: { input_tokens: 1000, output_tokens: 100 } } }, 0.0035],
    ["cohere", "embed-v4.0", { meta: { billed_units: { input_tokens: 1000 } } }, 0.00012],
    ["cohere", "command-a-03-2025", { usage: openAi() }, 0.0035],
  ],
  "service tiers": [
    ["openai", "gpt-5", { service_tier: "default", usage: openAi() }, 0.00225],
    ["openai", "gpt-5", { service_tier: "flex", usage: openAi() }, 0.001125],
    ["openai", "gpt-5", { usage: openAi(), service_tier: "priority" }, 0.0045],
    ["openai", "gpt-4o", { usage: openAi(), service_tier: "priority" }, 0.00595],
    ["openai", "gpt-5", { response: { service_tier: "flex", usage: openAi(), metadata: { service_tier: "priority" } } }, 0.001125],
    ["openai", "gpt-5", { service_tier: "default", usage: openAi(), metadata: { service_tier: "flex" } }, 0.00225],
    ["anthropic", "claude-opus-4-5", anthropic({ input_tokens: 1000, output_tokens: 1000, service_tier: "batch" }), 0.015],
    ["anthropic", "claude-opus-4-5", anthropic({ input_tokens: 1000, output_tokens: 1000, service_tier: "standard" }), 0.03],
    ["google-ai-studio", "gemini-2.5-flash", google({ serviceTier: "FLEX" }), 0.0014],
    ["google-vertex-ai", "gemini-2.5-flash", google({ trafficType: "ON_DEMAND_PRIORITY" }), 0.00504],
    ["google-vertex-ai", "gemini-2.5-flash", google({ trafficType: "ON_DEMAND" }), 0.0028],
    [
      "aws-bedrock",
      "anthropic.claude-opus-4-5-20251101-v1:0",
      { usage: { inputTokens: 1000, outputTokens: 1000 }, serviceTier: { type: "flex" } },
      0.0165,
    ],
    ["groq", "llama-3.3-70b-versatile", { usage: openAi(), service_tier: "on_demand" }, 0.000669],
  ],
  "speeds and places": [
    ["anthropic", "claude-opus-4-6", anthropic({ input_tokens: 1000, output_tokens: 100, speed: "fast" }), 0.045],
    ["anthropic", "claude-opus-4-6", anthropic({ input_tokens: 1000, output_tokens: 100, speed: "standard" }), 0.0075],
    ["anthropic", "claude-sonnet-4-6", anthropic({ input_tokens: 1000, output_tokens: 100, inference_geo: "us" }), 0.00495],
    ["anthropic", "claude-sonnet-4-6", anthropic({ input_tokens: 1000, output_tokens: 100, inference_geo: "global" }), 0.0045],
    ["google-vertex-ai@us-east5", "claude-sonnet-4-5@20250929", anthropic({ input_tokens: 1000, output_tokens: 100 }), 0.00495],
    ["google-vertex-ai@global", "claude-sonnet-4-5@20250929", anthropic({ input_tokens: 1000, output_tokens: 100 }), 0.0045],
    ["google-vertex-ai@us-east5", "claude-opus-4-1@20250805", anthropic({ input_tokens: 1000, output_tokens: 100 }), 0.0225],
  ],
  "deployments with the customer's names, and models that the customer trained": [
    ["azure-openai", "our-chats", { model: "gpt-4o-2024-11-20", usage: openAi() }, 0.0035],
    ["azure-openai", "gpt-4o", { usage: openAi() }, 0.0035],
    ["openai", "ft:gpt-4.1-2025-04-14:acme::abc", { usage: openAi() }, 0.0042],
    ["openai", "ft:gpt-4.1-mini-2025-04-14:acme:x:abc", { usage: openAi() }, 0.00112],
    ["openai", "ft:gpt-4.1-nano-2025-04-14:acme::abc", { usage: openAi() }, 0.00028],
    ["openai", "ft:o4-mini-2025-04-16:acme::abc", { usage: openAi() }, 0.0056],
  ],
  "sounds, pictures and searches": [
    [
      "openai",
      "gpt-audio",
      { usage: openAi({ prompt_tokens_details: { audio_tokens: 500 }, completion_tokens_details: { audio_tokens: 80 } }) },
      0.02257,
    ],
    [
      "openai",
      "gpt-4o-audio-preview",
      { usage: openAi({ prompt_tokens_details: { audio_tokens: 500 }, completion_tokens_details: { audio_tokens: 80 } }) },
      0.02785,
    ],
    [
      "openai",
      "gpt-4o-mini-audio-preview",
      { usage: openAi({ prompt_tokens_details: { audio_tokens: 1000 }, completion_tokens_details: { audio_tokens: 100 } }) },
      0.012,
    ],
    [
      "openai",
      "gpt-realtime",
      {
        usage: {
          input_tokens: 1000,
          output_tokens: 100,
          total_tokens: 1100,
          input_token_details: { audio_tokens: 500, cached_tokens: 200, cached_tokens_details: { audio_tokens: 100 } },
          output_token_details: { audio_tokens: 80 },
        },
      },
      0.01992,
    ],
    [
      "google-ai-studio",
      "gemini-2.5-flash",
      google({
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 400 },
          { modality: "AUDIO", tokenCount: 600 },
        ],
      }),
      0.00322,
    ],
    [
      "google-ai-studio",
      "gemini-2.5-flash",
      google({
        cachedContentTokenCount: 200,
        cacheTokensDetails: [{ modality: "TEXT", tokenCount: 200 }],
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 400 },
          { modality: "AUDIO", tokenCount: 600 },
        ],
      }),
      0.003166,
    ],
    ["google-ai-studio", "gemini-2.5-flash-image", google({ candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1000 }] }), 0.0303],
    ["anthropic", "claude-opus-4-5", anthropic({ input_tokens: 1000, server_tool_use: { web_search_requests: 3 } }), 0.035],
    ["perplexity-ai", "sonar", { usage: openAi() }, 0.0131],
  ],
};

for (const [kind, rows] of Object.entries(ROWS))
  test(`costs: ${kind}`, () => {
    for (const [provider, model, answer, expected] of rows)
      assert.equal(costOf(provider, model, answer), expected, `${provider} ${model} ${JSON.stringify(answer)}`);
  });
