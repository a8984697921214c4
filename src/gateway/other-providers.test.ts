import { test, type TestContext } from "node:test";
import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { GATEWAY_LIMITS } from "./config.ts";
import { createGateway } from "./gateway.ts";

const ACCOUNT = "a".repeat(32);
const ANSWER = "Hi there, how are you today?";
const MESSAGES = [{ role: "user", content: "hello" }];

/** Requests as each provider's own clients send them, and the paths at which the mock expects them. */
const CASES: readonly {
  readonly provider: string;
  readonly path: string;
  readonly body: object;
  readonly asked: string;
  readonly model: string;
}[] = [
  {
    provider: "anthropic",
    path: "/v1/messages",
    body: { model: "claude-sonnet-4-5", max_tokens: 64, messages: MESSAGES },
    asked: "/v1/messages",
    model: "claude-sonnet-4-5",
  },
  {
    provider: "anthropic",
    path: "/v1/messages",
    body: { model: "claude-sonnet-4-5", max_tokens: 64, messages: MESSAGES, stream: true },
    asked: "/v1/messages",
    model: "claude-sonnet-4-5",
  },
  {
    provider: "google-ai-studio",
    path: "/v1beta/models/gemini-2.5-flash:generateContent",
    body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
    asked: "/v1beta/models/gemini-2.5-flash:generateContent",
    model: "gemini-2.5-flash",
  },
  {
    provider: "google-ai-studio",
    path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
    asked: "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
    model: "gemini-2.5-flash",
  },
  {
    provider: "azure-openai",
    path: "/acme/gpt-4o/chat/completions?api-version=2024-10-21",
    body: { messages: MESSAGES },
    asked: "/openai/deployments/gpt-4o/chat/completions",
    model: "gpt-4o",
  },
  {
    provider: "aws-bedrock",
    path: "/bedrock-runtime/eu-west-1/model/anthropic.claude-3-haiku/invoke",
    body: { anthropic_version: "bedrock-2023-05-31", max_tokens: 64, messages: MESSAGES },
    asked: "/model/anthropic.claude-3-haiku/invoke",
    model: "anthropic.claude-3-haiku",
  },
  {
    provider: "cohere",
    path: "/v2/chat",
    body: { model: "command-r", messages: MESSAGES },
    asked: "/v2/chat",
    model: "command-r",
  },
  {
    provider: "groq",
    path: "/chat/completions",
    body: { model: "llama-3.3-70b", messages: MESSAGES },
    asked: "/v1/chat/completions",
    model: "llama-3.3-70b",
  },
];

async function stage(t: TestContext): Promise<{ mock: LLMock; base: string; rows: GatewayLogRow[] }> {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  mock.onMessage("hello", { content: ANSWER, usage: { prompt_tokens: 13, completion_tokens: 8, input_tokens: 13, output_tokens: 8 } });
  await mock.start();
  const rows: GatewayLogRow[] = [];
  const gateway = createGateway({
    replica: createMemoryReplica([
      { kind: "gateway", id: `${ACCOUNT}/gw`, value: { account_id: ACCOUNT, gateway_id: "gw", authentication: false, collect_logs: true } },
    ]),
    events: { push: (table, row) => void (table === "gateway_logs" && rows.push(row as GatewayLogRow)) },
    clock: systemClock,
    metrics: createMetrics(),
    config: {
      host: "127.0.0.1",
      port: 0,
      vendorPrefix: "svc",
      providers: {
        ...Object.fromEntries(["azure-openai", "aws-bedrock", "google-ai-studio", "cohere"].map((name) => [name, mock.url])),
        ...Object.fromEntries(["anthropic", "groq"].map((name) => [name, `${mock.url}/v1`])),
      },
      limits: GATEWAY_LIMITS,
    },
  });
  const { port } = await gateway.listen();
  t.after(async () => {
    await gateway.close(1000);
    await mock.stop();
  });
  return { mock, base: `http://127.0.0.1:${port}/v1/${ACCOUNT}/gw`, rows };
}

test("providers are called at their own paths, and their responses, models and usage are read", async (t) => {
  const { mock, base, rows } = await stage(t);
  for (const { provider, path, body, asked, model } of CASES) {
    const response = await fetch(`${base}/${provider}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "provider-key" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const label = `${provider} ${path}: ${response.status} ${text.slice(0, 300)}`;
    assert.equal(response.status, 200, label);
    // Streams send the answer in pieces.
    assert.match(text, /Hi there/, label);
    assert.equal(mock.getLastRequest()?.path.split("?", 1)[0], asked, label);
    const row = rows.at(-1);
    assert.deepEqual([row?.provider, row?.model, row?.success], [provider, model, true], label);
    assert.deepEqual([row?.tokens_in, row?.tokens_out], [13, 8], label);
  }
  assert.equal(rows.length, CASES.length);
});
