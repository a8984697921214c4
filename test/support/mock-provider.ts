import type { TestContext } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { type FrontOptions, type GatewayFront, gatewayFront } from "./gateway-front.ts";

export interface MockedFront extends GatewayFront {
  readonly mock: LLMock;
  /** `http://…/v1/{account_id}/gw` */
  readonly gateway: string;
}

export const WEATHER_TOOL = {
  name: "get_weather",
  description: "The weather in a town",
  parameters: { type: "object", properties: { town: { type: "string" } }, required: ["town"] },
};

/** A gateway before a mock of every provider, by a third party, with the prompts that the client tests use. */
export async function mockedFront(t: TestContext, options: FrontOptions = {}): Promise<MockedFront> {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  const usage = {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    input_tokens: 11,
    output_tokens: 7,
    promptTokenCount: 11,
    candidatesTokenCount: 7,
  };
  // Before the message that led to the calls, because the first match answers.
  mock.onToolResult("call_2", { content: "Oslo 4, Rome 19." });
  mock.on({ userMessage: "only claude", model: /claude/ }, { content: "Claude says hello." });
  mock.on({ userMessage: "only claude" }, { error: { message: "no such model", type: "invalid_request_error" }, status: 404 });
  mock.onMessage("hello", { content: "Hi there, how are you today?", usage });
  mock.onMessage("weather", {
    toolCalls: [
      { name: "get_weather", arguments: { town: "Oslo" }, id: "call_1" },
      { name: "get_weather", arguments: { town: "Rome" }, id: "call_2" },
    ],
  });
  mock.onMessage("limited", { error: { message: "slow down", type: "rate_limit_error" }, status: 429 });
  mock.onMessage("failing", { error: { message: "no", type: "server_error" }, status: 500 });
  mock.onMessage("forbidden", { error: { message: "bad key", type: "authentication_error" }, status: 401 });
  mock.onMessage("endless", { content: "word ".repeat(60) }, { chunkSize: 5, latency: 20 });
  mock.onMessage("break", { content: "this answer is cut before its end" }, { chunkSize: 4, latency: 10, truncateAfterChunks: 3 });
  mock.onEmbedding("vector", { embedding: [0.25, -0.5, 1] });
  await mock.start();
  t.after(() => mock.stop());
  const providers = {
    openai: `${mock.url}/v1`,
    anthropic: `${mock.url}/v1`,
    "google-ai-studio": mock.url,
    groq: `${mock.url}/v1`,
    "azure-openai": mock.url,
    "google-vertex-ai": mock.url,
    "aws-bedrock": mock.url,
    ...options.providers,
  };
  const front = await gatewayFront(t, { ...options, providers });
  return { ...front, mock, gateway: `${front.base}/gw` };
}
