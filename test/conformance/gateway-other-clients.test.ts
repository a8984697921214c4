import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GoogleGenAI } from "@google/genai";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { testProvider } from "../support/gateway-front.ts";
import { eventually } from "../support/eventually.ts";
import { mockedFront, WEATHER_TOOL } from "../support/mock-provider.ts";

describe("@google/genai", () => {
  const client = (gateway: string): GoogleGenAI =>
    new GoogleGenAI({ apiKey: "provider-key", httpOptions: { baseUrl: `${gateway}/google-ai-studio` } });
  const model = "gemini-2.5-flash";

  test("content costs the same buffered and streamed", async (t) => {
    const { gateway, rows } = await mockedFront(t);
    const { models } = client(gateway);
    const whole = await models.generateContent({ model, contents: "hello" });
    assert.equal(whole.text, "Hi there, how are you today?");
    let text = "";
    for await (const chunk of await models.generateContentStream({ model, contents: "hello" })) text += chunk.text ?? "";
    assert.equal(text, whole.text);
    await eventually(() => rows.length === 2);
    for (const row of rows) assert.deepEqual([row.model, row.tokens_in, row.tokens_out, row.success], [model, 11, 7, true]);
    assert.equal(rows[0]?.cost, rows[1]?.cost);
  });

  test("tools", async (t) => {
    const { gateway } = await mockedFront(t);
    const declaration = { name: WEATHER_TOOL.name, description: WEATHER_TOOL.description, parametersJsonSchema: WEATHER_TOOL.parameters };
    const config = { tools: [{ functionDeclarations: [declaration] }] };
    const answer = await client(gateway).models.generateContent({ model, contents: "weather", config });
    assert.deepEqual(
      answer.functionCalls?.map(({ args }) => args),
      [{ town: "Oslo" }, { town: "Rome" }],
    );
  });

  test("errors of the provider and a stream that it cuts", async (t) => {
    const { gateway, rows } = await mockedFront(t);
    const { models } = client(gateway);
    for (const [contents, status] of [
      ["limited", 429],
      ["forbidden", 401],
      ["failing", 500],
    ] as const)
      await assert.rejects(models.generateContent({ model, contents }), (error: any) => error.status === status);
    await assert.rejects(async () => {
      for await (const chunk of await models.generateContentStream({ model, contents: "break" })) assert.ok(chunk);
    });
    await eventually(() => rows.length === 4);
    assert.equal(rows[3]?.success, false);
  });

  test("tools, streamed", async (t) => {
    const { gateway } = await mockedFront(t);
    const declaration = { name: WEATHER_TOOL.name, description: WEATHER_TOOL.description, parametersJsonSchema: WEATHER_TOOL.parameters };
    const config = { tools: [{ functionDeclarations: [declaration] }] };
    const calls: unknown[] = [];
    for await (const chunk of await client(gateway).models.generateContentStream({ model, contents: "weather", config }))
      calls.push(...(chunk.functionCalls ?? []).map(({ args }) => args));
    assert.deepEqual(calls, [{ town: "Oslo" }, { town: "Rome" }]);
  });

  test("a client that disconnects ends the request", async (t) => {
    const { gateway, rows, metric } = await mockedFront(t);
    const abort = new AbortController();
    await assert.rejects(async () => {
      const config = { abortSignal: abort.signal };
      for await (const chunk of await client(gateway).models.generateContentStream({ model, contents: "endless", config }))
        if ((chunk.text ?? "") !== "") abort.abort();
    });
    await eventually(() => rows.length === 1);
    assert.deepEqual([rows[0]?.success, metric("selvedge_gateway_active_requests")], [false, 0]);
  });

  test("embeddings", async (t) => {
    // The mock has no answer to the path by which this client asks.
    const google = await testProvider(t, (res) => {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ embeddings: [{ values: [0.25, -0.5, 1] }] }));
    });
    const { gateway, rows } = await mockedFront(t, { providers: { "google-ai-studio": google.url } });
    const answer = await client(gateway).models.embedContent({ model: "gemini-embedding-001", contents: "vector" });
    assert.deepEqual(answer.embeddings?.[0]?.values, [0.25, -0.5, 1]);
    assert.deepEqual(
      [google.seen[0]?.url, rows[0]?.model],
      ["/v1beta/models/gemini-embedding-001:batchEmbedContents", "gemini-embedding-001"],
    );
  });
});

describe("@langchain/openai", () => {
  for (const [path, model] of [
    ["openai", "gpt-4o-mini"],
    ["compat", "anthropic/claude-haiku-4-5"],
  ] as const) {
    const chat = (gateway: string): ChatOpenAI =>
      new ChatOpenAI({ model, apiKey: "provider-key", maxRetries: 0, configuration: { baseURL: `${gateway}/${path}` } });

    test(`${path}: messages, buffered and streamed`, async (t) => {
      const { gateway } = await mockedFront(t);
      const whole = await chat(gateway).invoke("hello");
      assert.equal(whole.content, "Hi there, how are you today?");
      assert.equal((whole.usage_metadata as any)?.input_tokens, 11);
      let text = "";
      for await (const chunk of await chat(gateway).stream("hello")) text += String(chunk.content);
      assert.equal(text, whole.content);
    });

    test(`${path}: tools`, async (t) => {
      const { gateway } = await mockedFront(t);
      const bound = chat(gateway).bindTools([{ type: "function", function: WEATHER_TOOL }]);
      const { tool_calls = [] } = await bound.invoke("weather");
      assert.deepEqual(
        tool_calls.map(({ args }) => args),
        [{ town: "Oslo" }, { town: "Rome" }],
      );
    });

    test(`${path}: errors`, async (t) => {
      const { gateway } = await mockedFront(t);
      for (const [prompt, status] of [
        ["limited", 429],
        ["forbidden", 401],
        ["failing", 500],
      ] as const)
        await assert.rejects(chat(gateway).invoke(prompt), (error: any) => error.status === status);
    });

    test(`${path}: tools, streamed`, async (t) => {
      const { gateway } = await mockedFront(t);
      const bound = chat(gateway).bindTools([{ type: "function", function: WEATHER_TOOL }]);
      const texts: string[] = [];
      for await (const { tool_call_chunks = [] } of await bound.stream("weather"))
        for (const { index = 0, args = "" } of tool_call_chunks) texts[index] = (texts[index] ?? "") + args;
      assert.deepEqual(
        texts.map((text) => JSON.parse(text)),
        [{ town: "Oslo" }, { town: "Rome" }],
      );
    });

    test(`${path}: a stream that the provider cuts is an error, and a client that disconnects ends the request`, async (t) => {
      const { gateway, rows, metric } = await mockedFront(t);
      await assert.rejects(async () => {
        for await (const chunk of await chat(gateway).stream("break")) assert.ok(chunk);
      });
      const abort = new AbortController();
      await assert.rejects(async () => {
        for await (const chunk of await chat(gateway).stream("endless", { signal: abort.signal })) if (chunk.content !== "") abort.abort();
      });
      await eventually(() => rows.length === 2);
      assert.deepEqual([rows.map(({ success }) => success), metric("selvedge_gateway_active_requests")], [[false, false], 0]);
    });
  }

  test("embeddings", async (t) => {
    const { gateway } = await mockedFront(t);
    const embeddings = new OpenAIEmbeddings({
      apiKey: "k",
      configuration: { baseURL: `${gateway}/openai` },
      maxRetries: 0,
      encodingFormat: "float",
    });
    assert.deepEqual(await embeddings.embedQuery("vector"), [0.25, -0.5, 1]);
  });
});
