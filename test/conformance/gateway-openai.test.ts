import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI, { APIError, APIUserAbortError, AuthenticationError, InternalServerError, RateLimitError } from "openai";
import { answerChat, testProvider } from "../support/gateway-front.ts";
import { eventually } from "../support/eventually.ts";
import { mockedFront, WEATHER_TOOL } from "../support/mock-provider.ts";

const client = (baseURL: string): OpenAI => new OpenAI({ baseURL, apiKey: "provider-key", maxRetries: 0 });
const asking = (model: string, content: string) => ({ model, messages: [{ role: "user" as const, content }] });
const tools = [{ type: "function" as const, function: WEATHER_TOOL }];

/** The same client and the same code for each, told apart by the model's name alone. */
const MODELS = [
  { path: "openai", model: "gpt-4o-mini", provider: "openai" },
  { path: "compat", model: "openai/gpt-4o-mini", provider: "openai" },
  { path: "compat", model: "groq/llama-3.3-70b", provider: "groq" },
  { path: "compat", model: "anthropic/claude-haiku-4-5", provider: "anthropic" },
  { path: "compat", model: "google-ai-studio/gemini-2.5-flash", provider: "google-ai-studio" },
  { path: "compat", model: "azure-openai/acme/gpt-4o-mini", provider: "azure-openai" },
  {
    path: "compat",
    model: "google-vertex-ai/projects/p/locations/europe-west1/publishers/google/models/gemini-2.5-flash",
    provider: "google-vertex-ai",
  },
  { path: "compat", model: "aws-bedrock/eu-west-1/anthropic.claude-3-haiku", provider: "aws-bedrock" },
];

for (const { path, model, provider } of MODELS)
  describe(`OpenAI's client through /${path} with ${model}`, () => {
    test("a chat completion writes a row with its usage", async (t) => {
      const { gateway, rows, mock } = await mockedFront(t);
      const answer = await client(`${gateway}/${path}`).chat.completions.create(asking(model, "hello"));
      assert.equal(answer.choices[0]?.message.content, "Hi there, how are you today?");
      assert.equal(answer.choices[0]?.finish_reason, "stop");
      assert.deepEqual([answer.usage?.prompt_tokens, answer.usage?.completion_tokens], [11, 7]);
      assert.deepEqual([rows[0]?.provider, rows[0]?.model], [provider, model.split("/").at(-1)]);
      assert.deepEqual([rows[0]?.tokens_in, rows[0]?.tokens_out, rows[0]?.success], [11, 7, true]);
      const seen = mock.getLastRequest();
      const key = { anthropic: "x-api-key", "google-ai-studio": "x-goog-api-key", "azure-openai": "api-key" }[provider];
      if (key !== undefined) assert.deepEqual([seen?.headers["authorization"], seen?.headers[key]].map(Boolean), [false, true]);
    });

    test("a stream shows usage only if the client requests it, and the row always has it", async (t) => {
      const { gateway, rows } = await mockedFront(t);
      for (const stream_options of [undefined, { include_usage: true }]) {
        const body = { ...asking(model, "hello"), stream: true as const, ...(stream_options && { stream_options }) };
        let text = "";
        let finish;
        const usages: unknown[] = [];
        for await (const chunk of await client(`${gateway}/${path}`).chat.completions.create(body)) {
          text += chunk.choices[0]?.delta.content ?? "";
          finish = chunk.choices[0]?.finish_reason ?? finish;
          if (chunk.usage) usages.push([chunk.usage.prompt_tokens, chunk.usage.completion_tokens]);
        }
        assert.deepEqual([text, finish], ["Hi there, how are you today?", "stop"]);
        assert.deepEqual(usages, stream_options === undefined ? [] : [[11, 7]]);
      }
      await eventually(() => rows.length === 2);
      for (const row of rows) assert.deepEqual([row.tokens_in, row.tokens_out, row.success], [11, 7, true]);
      assert.equal(rows[0]?.cost, rows[1]?.cost);
    });

    test("parallel tool calls, buffered and streamed, and their results", async (t) => {
      const { gateway } = await mockedFront(t);
      const openai = client(`${gateway}/${path}`);
      const whole = await openai.chat.completions.create({ ...asking(model, "weather"), tools });
      const calls = whole.choices[0]?.message.tool_calls ?? [];
      const inputs = (list: readonly any[]) => list.map((call) => JSON.parse(call.function.arguments));
      assert.deepEqual(inputs(calls), [{ town: "Oslo" }, { town: "Rome" }]);
      assert.equal(whole.choices[0]?.finish_reason, "tool_calls");
      const streamed = await openai.chat.completions.stream({ ...asking(model, "weather"), tools }).finalChatCompletion();
      assert.deepEqual(inputs(streamed.choices[0]?.message.tool_calls ?? []), inputs(calls));
      if (provider.startsWith("google-")) return; // The mock's results are found by an id that this dialect does not need.
      const results = calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "4" }));
      const messages = [...asking(model, "weather").messages, whole.choices[0]!.message, ...results];
      const then = await openai.chat.completions.create({ model, messages, tools });
      assert.equal(then.choices[0]?.message.content, "Oslo 4, Rome 19.");
    });

    test("errors of the provider become the client's own errors", async (t) => {
      const { gateway, rows } = await mockedFront(t);
      const openai = client(`${gateway}/${path}`);
      const cases = [
        ["limited", RateLimitError, /slow down/],
        ["forbidden", AuthenticationError, /bad key/],
        ["failing", InternalServerError, /no/],
      ] as const;
      for (const [content, kind, message] of cases) {
        await assert.rejects(openai.chat.completions.create(asking(model, content)), (error) => {
          assert.ok(error instanceof kind, `${content}: ${String(error)}`);
          assert.match(error.message, message);
          return true;
        });
        await assert.rejects(openai.chat.completions.create({ ...asking(model, content), stream: true }), kind);
      }
      assert.deepEqual(
        rows.map((row) => row.status_code),
        [429, 429, 401, 401, 500, 500],
      );
      assert.ok(rows.every((row) => !row.success));
    });

    test("a stream that the provider cuts never looks complete", async (t) => {
      const { gateway, rows } = await mockedFront(t);
      const stream = await client(`${gateway}/${path}`).chat.completions.create({ ...asking(model, "break"), stream: true });
      let finish: string | null = null;
      await assert.rejects(
        async () => {
          for await (const chunk of stream) finish = chunk.choices[0]?.finish_reason ?? finish;
        },
        (error) => error instanceof APIError || error instanceof TypeError,
      );
      assert.equal(finish, null);
      await eventually(() => rows.length === 1);
      assert.equal(rows[0]?.success, false);
    });

    test("a client that disconnects ends the provider's stream", async (t) => {
      const { gateway, rows, metric } = await mockedFront(t);
      const stream = await client(`${gateway}/${path}`).chat.completions.create({ ...asking(model, "endless"), stream: true });
      let chunks = 0;
      try {
        for await (const chunk of stream) if (chunk.choices.length > 0 && ++chunks === 3) stream.controller.abort();
      } catch (error) {
        assert.ok(error instanceof APIUserAbortError);
      }
      await eventually(() => rows.length === 1);
      assert.deepEqual([rows[0]?.success, metric("selvedge_gateway_active_requests")], [false, 0]);
    });
  });

describe("OpenAI's client with requests other than chat completions", () => {
  test("responses, buffered and streamed", async (t) => {
    const { gateway, rows } = await mockedFront(t);
    const openai = client(`${gateway}/openai`);
    const whole = await openai.responses.create({ model: "gpt-4o-mini", input: "hello" });
    assert.equal(whole.output_text, "Hi there, how are you today?");
    const streamed = await openai.responses.stream({ model: "gpt-4o-mini", input: "hello" }).finalResponse();
    assert.equal(streamed.output_text, whole.output_text);
    await eventually(() => rows.length === 2);
    for (const row of rows) assert.deepEqual([row.model, row.tokens_in, row.tokens_out], ["gpt-4o-mini", 11, 7]);
  });

  test("embeddings", async (t) => {
    const { gateway, rows } = await mockedFront(t);
    const answer = await client(`${gateway}/openai`).embeddings.create({ model: "text-embedding-3-small", input: "vector" });
    assert.deepEqual(answer.data[0]?.embedding, [0.25, -0.5, 1]);
    assert.equal(rows[0]?.model, "text-embedding-3-small");
  });

  test("speech and transcriptions, with the model in a form field before or after the file", async (t) => {
    const { gateway, rows, mock } = await mockedFront(t);
    mock.onTranscription({ transcription: { text: "good morning" } });
    mock.onSpeech(/./, { audio: Buffer.from("sound").toString("base64") });
    const openai = client(`${gateway}/openai`);
    const file = new File([Buffer.alloc(100_000)], "a.wav");
    for (const order of [
      { file, model: "whisper-1" },
      { model: "whisper-1", file },
    ])
      assert.equal((await openai.audio.transcriptions.create(order)).text, "good morning");
    const speech = await openai.audio.speech.create({ model: "tts-1", voice: "alloy", input: "hello" });
    assert.equal(Buffer.from(await speech.arrayBuffer()).toString(), "sound");
    await eventually(() => rows.length === 3);
    assert.deepEqual(
      rows.map((row) => [row.model, row.success]),
      [
        ["whisper-1", true],
        ["whisper-1", true],
        ["tts-1", true],
      ],
    );
  });

  test("model lists and file uploads", async (t) => {
    const { gateway } = await mockedFront(t);
    const openai = client(`${gateway}/openai`);
    const models = await openai.models.list();
    assert.ok(models.data.length > 0);
    const file = await openai.files.create({ purpose: "batch", file: new File([Buffer.alloc(200_000, "x")], "a.jsonl") });
    assert.equal(file.bytes, 200_000);
  });
});

describe("OpenAI's client with embeddings through the unified endpoint", () => {
  for (const encoding_format of [undefined, "float"] as const)
    test(`google, ${encoding_format ?? "encoded as the client likes it"}`, async (t) => {
      const google = await testProvider(t, (res, { body }) => {
        const { requests } = JSON.parse(body);
        assert.deepEqual(requests[0], {
          model: "models/gemini-embedding-001",
          content: { parts: [{ text: "a" }] },
          outputDimensionality: 3,
        });
        res.setHeader("content-type", "application/json");
        res.end(JSON.stringify({ embeddings: requests.map(() => ({ values: [0.25, -0.5, 1] })) }));
      });
      const { gateway, rows } = await mockedFront(t, { providers: { "google-ai-studio": google.url } });
      const asked = {
        model: "google-ai-studio/gemini-embedding-001",
        input: ["a", "b"],
        dimensions: 3,
        ...(encoding_format && { encoding_format }),
      };
      const { data } = await client(`${gateway}/compat`).embeddings.create(asked);
      assert.deepEqual(
        data.map(({ index, embedding }) => [index, Array.from(embedding)]),
        [
          [0, [0.25, -0.5, 1]],
          [1, [0.25, -0.5, 1]],
        ],
      );
      assert.deepEqual(
        [rows[0]?.provider, rows[0]?.model, google.seen[0]?.headers["x-goog-api-key"]],
        ["google-ai-studio", "gemini-embedding-001", "provider-key"],
      );
    });

  test("openai, and a provider without embeddings", async (t) => {
    const { gateway, rows } = await mockedFront(t);
    const openai = client(`${gateway}/compat`);
    const { data } = await openai.embeddings.create({ model: "openai/text-embedding-3-small", input: "vector" });
    assert.deepEqual(data[0]?.embedding, [0.25, -0.5, 1]);
    await assert.rejects(
      openai.embeddings.create({ model: "anthropic/claude", input: "vector" }),
      (error: any) => error.error[0].code === 2008,
    );
    assert.equal(rows.length, 1);
  });
});

describe("providers that serve OpenAI's dialect below their own path", () => {
  for (const [provider, model, path] of [
    ["cohere", "command-a-03-2025", "/compatibility/v1/chat/completions"],
    ["huggingface", "org/model", "/v1/chat/completions"],
  ] as const)
    test(provider, async (t) => {
      const asked = await testProvider(t, (res) => answerChat(res, "Hi."));
      const { gateway, rows } = await mockedFront(t, {
        providers: { [provider]: asked.url },
      });
      await client(`${gateway}/compat`).chat.completions.create(asking(`${provider}/${model}`, "hello"));
      assert.deepEqual([asked.seen[0]?.url, JSON.parse(asked.seen[0]?.body ?? "").model, rows[0]?.tokens_in], [path, model, 10]);
    });
});

describe("refusals of the unified endpoint itself", () => {
  const refusals = [
    ["gpt-4o-mini", {}, 2019],
    ["nobody/gpt", {}, 2008],
    ["elevenlabs/voice", {}, 2008],
    ["anthropic/claude", { n: 2 }, 2019],
  ] as const;
  for (const [model, more, code] of refusals)
    test(`${model} ${JSON.stringify(more)} gives ${code} and writes no row`, async (t) => {
      const { gateway, rows, mock } = await mockedFront(t);
      await assert.rejects(client(`${gateway}/compat`).chat.completions.create({ ...asking(model, "hello"), ...more }), (error: any) => {
        assert.deepEqual([error.status, error.error[0].code], [400, code]);
        return true;
      });
      assert.deepEqual([rows.length, mock.getRequests().length], [0, 0]);
    });
});
