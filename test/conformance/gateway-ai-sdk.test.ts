import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { embed, generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { createAiGateway } from "ai-gateway-provider";
import { eventually } from "../support/eventually.ts";
import { type MockedFront, mockedFront, WEATHER_TOOL } from "../support/mock-provider.ts";
import { gatewayOp, GATEWAY_ACCOUNT, gatewayTokenOp } from "../support/gateway-front.ts";

const RUN_TOKEN = "gateway-token-of-forty-characters-length";
const tools = {
  get_weather: tool({
    description: WEATHER_TOOL.description,
    inputSchema: jsonSchema<{ town: string }>(WEATHER_TOOL.parameters as any),
    execute: ({ town }) => (town === "Oslo" ? "4" : "19"),
  }),
};

/** Every way in which users of this SDK reach a model through the gateway. */
const WAYS: readonly (readonly [string, (front: MockedFront) => LanguageModel])[] = [
  ["@ai-sdk/openai, chat", ({ gateway }) => createOpenAI({ baseURL: `${gateway}/openai`, apiKey: "k" }).chat("gpt-4o-mini")],
  ["@ai-sdk/openai, responses", ({ gateway }) => createOpenAI({ baseURL: `${gateway}/openai`, apiKey: "k" })("gpt-4o-mini")],
  ["@ai-sdk/anthropic", ({ gateway }) => createAnthropic({ baseURL: `${gateway}/anthropic`, apiKey: "k" })("claude-haiku-4-5")],
  [
    "@ai-sdk/openai, unified",
    ({ gateway }) => createOpenAI({ baseURL: `${gateway}/compat`, apiKey: "k" }).chat("anthropic/claude-haiku-4-5"),
  ],
  ["ai-gateway-provider by its binding", (front) => aiGateway(front)(createOpenAI({ apiKey: "k" }).chat("gpt-4o-mini"))],
];

/** The package's own transport but for the address: a binding that posts to the gateway. */
const aiGateway = ({ gateway }: MockedFront) =>
  createAiGateway({
    binding: {
      run: (data, options) =>
        fetch(gateway, {
          method: "POST",
          headers: { "content-type": "application/json", "cf-aig-authorization": `Bearer ${RUN_TOKEN}` },
          body: JSON.stringify(data),
          ...(options?.signal && { signal: options.signal }),
        }),
    },
  });

for (const [name, modelOf] of WAYS)
  describe(name, () => {
    test("text, buffered and streamed", async (t) => {
      const front = await mockedFront(t);
      const model = modelOf(front);
      const whole = await generateText({ model, prompt: "hello", maxRetries: 0 });
      assert.equal(whole.text, "Hi there, how are you today?");
      assert.deepEqual([whole.usage.inputTokens, whole.usage.outputTokens, whole.finishReason], [11, 7, "stop"]);
      const streamed = streamText({ model, prompt: "hello", maxRetries: 0 });
      assert.equal(await streamed.text, whole.text);
      assert.equal((await streamed.usage).outputTokens, 7);
      await eventually(() => front.rows.length === 2);
      for (const row of front.rows) assert.deepEqual([row.tokens_in, row.tokens_out, row.success], [11, 7, true]);
      assert.equal(front.rows[0]?.cost, front.rows[1]?.cost);
    });

    test("tool calls and their results", async (t) => {
      const model = modelOf(await mockedFront(t));
      const { text, steps } = await generateText({ model, prompt: "weather", tools, stopWhen: stepCountIs(3), maxRetries: 0 });
      assert.deepEqual(
        steps[0]?.toolResults.map(({ output }) => output),
        ["4", "19"],
      );
      assert.equal(text, "Oslo 4, Rome 19.");
      const streamed = streamText({ model, prompt: "weather", tools, stopWhen: stepCountIs(3), maxRetries: 0 });
      assert.equal(await streamed.text, "Oslo 4, Rome 19.");
      assert.deepEqual(
        (await streamed.steps)[0]?.toolCalls.map(({ input }) => input),
        [{ town: "Oslo" }, { town: "Rome" }],
      );
    });

    test("an error status and a cut stream are errors", async (t) => {
      const model = modelOf(await mockedFront(t));
      for (const [prompt, status] of [
        ["limited", 429],
        ["forbidden", 401],
        ["failing", 500],
      ] as const)
        await assert.rejects(generateText({ model, prompt, maxRetries: 0 }), (error: any) => error.statusCode === status);
      const errors: unknown[] = [];
      const cut = streamText({ model, prompt: "break", maxRetries: 0, onError: ({ error }) => void errors.push(error) });
      await Promise.resolve(cut.consumeStream());
      assert.ok(errors.length > 0 || (await cut.finishReason) === "error");
    });

    test("a client that disconnects ends the request", async (t) => {
      const front = await mockedFront(t);
      const abort = new AbortController();
      const { textStream } = streamText({
        model: modelOf(front),
        prompt: "endless",
        abortSignal: abort.signal,
        maxRetries: 0,
        onError: () => undefined,
      });
      for await (const text of textStream) if (text !== "") abort.abort();
      await eventually(() => front.rows.length === 1);
      assert.deepEqual([front.rows[0]?.success, front.metric("selvedge_gateway_active_requests")], [false, 0]);
    });
  });

test("@ai-sdk/openai: embeddings", async (t) => {
  const { gateway } = await mockedFront(t);
  const model = createOpenAI({ baseURL: `${gateway}/openai`, apiKey: "k" }).embedding("text-embedding-3-small");
  const { embedding } = await embed({ model, value: "vector", maxRetries: 0 });
  assert.deepEqual(embedding, [0.25, -0.5, 1]);
});

describe("ai-gateway-provider with its default URL", () => {
  const ops = [gatewayOp("gw", { authentication: true }), gatewayTokenOp(RUN_TOKEN)];
  /** Requests of the package to its vendor go to the gateway instead; nothing else is changed. */
  const redirected = async (t: TestContext): Promise<MockedFront> => {
    const front = await mockedFront(t, { ops });
    const real = globalThis.fetch;
    t.mock.method(globalThis, "fetch", (url: string | URL | Request, init?: RequestInit) =>
      real(String(url).replace("https://gateway.ai.cloudflare.com/v1", front.base.replace(`/${GATEWAY_ACCOUNT}`, "")), init),
    );
    return front;
  };
  const model = () => createOpenAI({ apiKey: "k" }).chat("gpt-4o-mini");

  test("the gateway falls back from a failing model to the next, and the step header names it", async (t) => {
    const { rows } = await redirected(t);
    const aigateway = createAiGateway({ accountId: GATEWAY_ACCOUNT, gateway: "gw", apiKey: RUN_TOKEN });
    const failing = createOpenAI({ apiKey: "k" }).chat("no-such-model");
    const { text } = await generateText({
      model: aigateway([failing, createAnthropic({ apiKey: "k" })("claude-haiku-4-5")]),
      prompt: "only claude hello",
      maxRetries: 0,
    });
    assert.equal(text, "Claude says hello.");
    assert.deepEqual([rows.length, rows[0]?.step, rows[0]?.provider], [1, 1, "anthropic"]);
  });

  test("a wrong token and an unknown gateway give the client's own errors", async (t) => {
    const { rows } = await redirected(t);
    const wrongToken = createAiGateway({ accountId: GATEWAY_ACCOUNT, gateway: "gw", apiKey: "wrong" });
    await assert.rejects(generateText({ model: wrongToken(model()), prompt: "hello", maxRetries: 0 }), /authentication active/);
    const nowhere = createAiGateway({ accountId: GATEWAY_ACCOUNT, gateway: "nowhere", apiKey: RUN_TOKEN });
    await assert.rejects(generateText({ model: nowhere(model()), prompt: "hello", maxRetries: 0 }), /does not exist/);
    assert.equal(rows.length, 0);
  });
});
