import { test, type TestContext } from "node:test";
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import OpenAI, { APIError } from "openai";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { Op } from "#snapshot/entries.ts";
import { encodeAmazonMessage } from "#wire/http/amazon-event-stream.ts";
import { eventually } from "../../test/support/eventually.ts";
import {
  GATEWAY_ACCOUNT,
  gatewayFront,
  gatewayOp,
  gatewayTokenOp,
  postJson,
  TEST_CHAT,
  testProvider,
} from "../../test/support/gateway-front.ts";

const SEALER = createSealer(Buffer.alloc(32, 7));
/** A stored key needs a gateway token. */
const TOKEN = { "svc-aig-authorization": "Bearer token" };
const MESSAGES = TEST_CHAT.messages as OpenAI.ChatCompletionMessageParam[];
const keyOp = (provider: string, secret: string): Op => ({
  kind: "provider_key",
  id: provider,
  value: {
    account_id: GATEWAY_ACCOUNT,
    gateway_id: "gw",
    provider,
    alias: "default",
    is_default: true,
    secret: SEALER.seal(secret, `provider-key:${provider}`),
  },
});

type Answer = (res: ServerResponse, url: string) => void;

/** A gateway with stored keys before one provider that stands for every cloud, and OpenAI's client. */
async function cloud(t: TestContext, keys: Readonly<Record<string, string>>, answer: Answer) {
  const provider = await testProvider(t, (res, { url }) => answer(res, url));
  const names = ["azure-openai", "google-vertex-ai", "aws-bedrock"];
  const front = await gatewayFront(t, {
    ops: [gatewayOp("gw"), gatewayTokenOp("token"), ...Object.entries(keys).map(([name, secret]) => keyOp(name, secret))],
    providers: Object.fromEntries(names.map((name) => [name, provider.url])),
    deps: { sealer: SEALER },
  });
  // The gateway has the keys; the client's key is not forwarded.
  const client = new OpenAI({
    baseURL: `${front.base}/gw/compat`,
    apiKey: "unused",
    maxRetries: 0,
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.delete("authorization");
      headers.set("svc-aig-authorization", TOKEN["svc-aig-authorization"]);
      return fetch(url, { ...init, headers });
    },
  });
  return { ...front, provider, client };
}

const json = (res: ServerResponse, body: object, status = 200): void =>
  void res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

const AWS_KEY = JSON.stringify({ access_key_id: "AKID", secret_access_key: "secret", region: "eu-central-1" });
const frame = (type: string, payload: object): Buffer =>
  encodeAmazonMessage(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    Buffer.from(JSON.stringify(payload)),
  );
const CONVERSED = [
  frame("messageStart", { role: "assistant", p: "abc" }),
  frame("contentBlockDelta", { contentBlockIndex: 0, delta: { reasoningContent: { text: "hm" } } }),
  frame("contentBlockStop", { contentBlockIndex: 0 }),
  frame("contentBlockDelta", { contentBlockIndex: 1, delta: { text: "Grüße" } }),
  frame("contentBlockStop", { contentBlockIndex: 1 }),
];
const CLOSING = [
  frame("messageStop", { stopReason: "end_turn" }),
  frame("metadata", {
    usage: { inputTokens: 8, outputTokens: 5, totalTokens: 17, cacheReadInputTokens: 4, cacheWriteInputTokens: 0 },
    metrics: { latencyMs: 9 },
  }),
];
const sendFrames = (res: ServerResponse, frames: readonly Buffer[]): void =>
  void res.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" }).end(Buffer.concat(frames));

test("Converse: the whole OpenAI request is translated and signed for the region of the stored key", async (t) => {
  const { client, provider, rows } = await cloud(t, { "aws-bedrock": AWS_KEY }, (res) =>
    json(res, {
      metrics: { latencyMs: 1 },
      output: { message: { role: "assistant", content: [{ text: "4 °C" }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 8, outputTokens: 5, totalTokens: 17, cacheReadInputTokens: 4 },
    }),
  );
  const answer = await client.chat.completions.create({
    model: "aws-bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0",
    max_tokens: 64,
    temperature: 1.5,
    stop: "END",
    reasoning_effort: "low",
    messages: [
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "what is it?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } },
          { type: "file", file: { filename: "my report.pdf", file_data: "data:application/pdf;base64,JVBE" } },
        ],
      },
      { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"town":"Oslo"}' } }] },
      { role: "tool", tool_call_id: "c1", content: '{"celsius":4}' },
    ],
    tools: [
      { type: "function", function: { name: "weather", description: "of a town", parameters: { type: "object", required: ["town"] } } },
    ],
    tool_choice: "required",
    response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } },
  });
  const [{ url, headers, body }] = provider.seen as [(typeof provider.seen)[number]];
  assert.equal(url, "/model/eu.anthropic.claude-opus-4-5-20251101-v1%3A0/converse");
  assert.match(headers.authorization ?? "", /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/bedrock\/aws4_request/);
  assert.deepEqual(JSON.parse(body), {
    messages: [
      {
        role: "user",
        content: [
          { text: "what is it?" },
          { image: { format: "png", source: { bytes: "iVBO" } } },
          { document: { format: "pdf", name: "my report 1", source: { bytes: "JVBE" } } },
        ],
      },
      { role: "assistant", content: [{ toolUse: { toolUseId: "c1", name: "weather", input: { town: "Oslo" } } }] },
      { role: "user", content: [{ toolResult: { toolUseId: "c1", content: [{ json: { celsius: 4 } }] } }] },
    ],
    system: [{ text: "be brief" }],
    inferenceConfig: { maxTokens: 64, temperature: 1, stopSequences: ["END"] },
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: "weather",
            description: "of a town",
            inputSchema: { json: { type: "object", properties: {}, required: ["town"] } },
          },
        },
      ],
      toolChoice: { any: {} },
    },
    outputConfig: {
      textFormat: {
        type: "json_schema",
        structure: { jsonSchema: { name: "answer", schema: '{"type":"object","additionalProperties":false}' } },
      },
    },
    additionalModelRequestFields: { output_config: { effort: "low" } },
  });
  assert.equal(answer.choices[0]?.message.content, "4 °C");
  assert.deepEqual([answer.usage?.prompt_tokens, answer.usage?.prompt_tokens_details?.cached_tokens], [12, 4]);
  assert.deepEqual([rows[0]?.model, rows[0]?.tokens_in, rows[0]?.tokens_cache_read], ["eu.anthropic.claude-opus-4-5-20251101-v1:0", 12, 4]);
  assert.ok((rows[0]?.cost ?? 0) > 0);
});

test("a region before the model, or in its ARN, overrides the key's region", async (t) => {
  const { client, provider } = await cloud(t, { "aws-bedrock": AWS_KEY }, (res) =>
    json(res, { output: { message: { content: [] } }, stopReason: "end_turn", usage: {} }),
  );
  const arn = "arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.meta.llama-v1:0";
  for (const [model, region] of [
    ["us-gov-west-1/amazon.nova-pro-v1:0", "us-gov-west-1"],
    [arn, "us-west-2"],
    ["amazon.nova-pro-v1:0", "eu-central-1"],
  ] as const) {
    await client.chat.completions.create({ model: `aws-bedrock/${model}`, messages: MESSAGES });
    assert.ok(provider.seen.at(-1)?.headers.authorization?.includes(`/${region}/bedrock/`), model);
  }
  assert.equal(provider.seen[1]?.url, `/model/${encodeURIComponent(arn)}/converse`);
});

test("a Converse stream becomes an OpenAI stream at the same cost as a buffered response", async (t) => {
  const { client, rows } = await cloud(t, { "aws-bedrock": AWS_KEY }, (res, url) =>
    url.endsWith("/converse-stream")
      ? sendFrames(res, [...CONVERSED, ...CLOSING])
      : json(res, {
          output: { message: { content: [{ reasoningContent: { reasoningText: { text: "hm" } } }, { text: "Grüße" }] } },
          stopReason: "end_turn",
          usage: { inputTokens: 8, outputTokens: 5, totalTokens: 17, cacheReadInputTokens: 4, cacheWriteInputTokens: 0 },
        }),
  );
  const asked = { model: "aws-bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0", messages: MESSAGES };
  const { data: stream, response } = await client.chat.completions
    .create({ ...asked, stream: true, stream_options: { include_usage: true } })
    .withResponse();
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
  let text = "";
  let thought = "";
  let usage: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
    text += delta?.content ?? "";
    thought += delta?.reasoning_content ?? "";
    usage = chunk.usage ?? usage;
  }
  const whole = await client.chat.completions.create(asked);
  assert.deepEqual([text, thought, usage], ["Grüße", "hm", whole.usage]);
  assert.deepEqual([whole.choices[0]?.message.content, usage?.total_tokens], ["Grüße", 17]);
  assert.deepEqual([rows[0]?.tokens_in, rows[0]?.tokens_out, rows[0]?.cost], [rows[1]?.tokens_in, rows[1]?.tokens_out, rows[1]?.cost]);
  assert.ok((rows[0]?.cost ?? 0) > 0);
});

test("a Converse stream that is cut, damaged or has an error event never looks complete", async (t) => {
  const failure = encodeAmazonMessage(
    { ":exception-type": "throttlingException", ":content-type": "application/json", ":message-type": "exception" },
    Buffer.from(JSON.stringify({ message: "too many tokens" })),
  );
  const damaged = Buffer.from(CONVERSED[1] as Buffer);
  damaged[20] = (damaged[20] as number) ^ 1;
  const ends: readonly (readonly Buffer[])[] = [[], [failure, ...CLOSING], [damaged, ...CLOSING]];
  let number = 0;
  const { client, rows } = await cloud(t, { "aws-bedrock": AWS_KEY }, (res) =>
    sendFrames(res, [...CONVERSED, ...(ends[number++] as readonly Buffer[])]),
  );
  const messages: string[] = [];
  for (const _ of ends) {
    const finishes: unknown[] = [];
    await assert.rejects(
      async () => {
        const asked = { model: "aws-bedrock/us.amazon.nova-pro-v1:0", messages: MESSAGES, stream: true } as const;
        for await (const chunk of await client.chat.completions.create(asked)) finishes.push(chunk.choices[0]?.finish_reason);
      },
      (error) => {
        messages.push((error as Error).message);
        return error instanceof APIError || error instanceof TypeError;
      },
    );
    assert.ok(finishes.every((finish) => finish === null));
  }
  assert.match(messages[1] ?? "", /too many tokens/);
  assert.deepEqual(
    rows.map(({ success }) => success),
    [false, false, false],
  );
});

test("parameters that Converse lacks are refused, and its errors reach the client", async (t) => {
  const { client, provider, rows } = await cloud(t, { "aws-bedrock": AWS_KEY }, (res) =>
    json(res, { message: "The provided model identifier is invalid." }, 400),
  );
  const model = "aws-bedrock/meta.llama3-1-70b-instruct-v1:0";
  const tools = [{ type: "function" as const, function: { name: "f" } }];
  const image = [{ role: "user" as const, content: [{ type: "image_url" as const, image_url: { url: "https://example.com/a.png" } }] }];
  for (const wrong of [{ n: 2 }, { tools, parallel_tool_calls: false }, { messages: image }])
    await assert.rejects(
      client.chat.completions.create({ model, messages: MESSAGES, ...wrong }),
      (error) => (error as { status?: number }).status === 400 && /2019|provider|model/.test(String(error)),
    );
  assert.deepEqual([provider.seen.length, rows.length], [0, 0]);
  await assert.rejects(client.chat.completions.create({ model, messages: MESSAGES }), /The provided model identifier is invalid/);
});

test("usage of a stream in Bedrock's own format is read from its messages, wrapped or not", async (t) => {
  const wrapped = (event: object): Buffer => frame("chunk", { bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcd" });
  const { base, rows } = await cloud(t, {}, (res, url) =>
    sendFrames(
      res,
      url.includes("/converse-stream")
        ? [...CONVERSED, ...CLOSING]
        : [
            wrapped({ type: "message_start", message: { usage: { input_tokens: 9, output_tokens: 1 } } }),
            wrapped({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 6 } }),
            wrapped({ type: "message_stop" }),
          ],
    ),
  );
  const below = `${base}/gw/aws-bedrock/bedrock-runtime/us-east-1/model/anthropic.claude-3-haiku-20240307-v1%3A0`;
  for (const path of ["/converse-stream", "/invoke-with-response-stream"])
    assert.equal((await (await postJson(below + path, {})).arrayBuffer()).byteLength > 100, true);
  assert.deepEqual(
    rows.map(({ tokens_in, tokens_out, success }) => [tokens_in, tokens_out, success]),
    [
      [12, 5, true],
      [9, 6, true],
    ],
  );
});

const wrappedEvent = (event: object): Buffer => frame("chunk", { bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcd" });

test("a truncated stream in Bedrock's own format never looks complete", async (t) => {
  const invoked = [wrappedEvent({ type: "message_start", message: { usage: { input_tokens: 9 } } })];
  const failure = encodeAmazonMessage({ ":message-type": "exception", ":exception-type": "throttlingException" }, Buffer.from("{}"));
  const cut: readonly (readonly [string, readonly Buffer[], RegExp])[] = [
    ["/converse-stream", CONVERSED, /modelStreamErrorException/],
    ["/invoke-with-response-stream", invoked, /modelStreamErrorException/],
    ["/converse-stream", [...CONVERSED, CLOSING[0]?.subarray(0, 20) as Buffer], /Grüße/],
    ["/converse-stream", [...CONVERSED, failure], /throttlingException/],
  ];
  for (const [path, frames, told] of cut) {
    const { base, rows } = await cloud(t, {}, (res) => sendFrames(res, frames));
    const answer = await postJson(`${base}/gw/aws-bedrock/bedrock-runtime/us-east-1/model/m${path}`, {});
    let text = "";
    await assert.rejects(async () => {
      for await (const chunk of answer.body ?? []) text += Buffer.from(chunk).toString();
    });
    assert.match(text, told);
    await eventually(() => rows.length === 1);
    assert.deepEqual([rows[0]?.status_code, rows[0]?.success], [200, false]);
  }
  const { base, rows } = await cloud(t, {}, (res) =>
    sendFrames(res, [...invoked, wrappedEvent({ "amazon-bedrock-invocationMetrics": {} })]),
  );
  await (await postJson(`${base}/gw/aws-bedrock/bedrock-runtime/us-east-1/model/m/invoke-with-response-stream`, {})).arrayBuffer();
  assert.equal(rows[0]?.success, true);
});

type ChatOrError = OpenAI.ChatCompletion & { readonly internalCode: number; readonly error: readonly [{ readonly message: string }] };

const MODEL_PLACE = "projects/acme/locations/europe-west4/publishers";

test("Vertex: the publisher chooses the dialect, and the full model name has project and region", async (t) => {
  const { base, provider, rows } = await cloud(t, {}, (res, url) =>
    url.includes("/anthropic/")
      ? json(res, {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "claude-sonnet-4-20250514",
          content: [{ type: "text", text: "Hello" }],
          stop_reason: "end_turn",
          usage: { input_tokens: 9, output_tokens: 3 },
        })
      : json(res, {
          candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 14 },
        }),
  );
  const ask = async (model: string, more: object = {}): Promise<ChatOrError> =>
    (
      await postJson(`${base}/gw/compat/chat/completions`, {
        ...TEST_CHAT,
        ...more,
        model: `google-vertex-ai/${model}`,
      })
    ).json() as Promise<ChatOrError>;
  const claude = await ask(`${MODEL_PLACE}/anthropic/models/claude-sonnet-4@20250514`, { max_tokens: 9 });
  const gemini = await ask(`${MODEL_PLACE}/google/models/gemini-2.5-pro`);
  assert.deepEqual([claude.choices[0]?.message.content, gemini.choices[0]?.message.content], ["Hello", "Hello"]);
  assert.deepEqual(
    provider.seen.map(({ url, headers }) => [url, headers.authorization]),
    [
      [`/v1/${MODEL_PLACE}/anthropic/models/claude-sonnet-4%4020250514:rawPredict`, "Bearer provider-key"],
      [`/v1/${MODEL_PLACE}/google/models/gemini-2.5-pro:generateContent`, "Bearer provider-key"],
    ],
  );
  assert.deepEqual(JSON.parse(provider.seen[0]?.body ?? ""), {
    anthropic_version: "vertex-2023-10-16",
    max_tokens: 9,
    messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
  });
  assert.deepEqual(
    rows.map(({ model, tokens_in, tokens_out }) => [model, tokens_in, tokens_out]),
    [
      ["claude-sonnet-4@20250514", 9, 3],
      ["gemini-2.5-pro", 9, 5],
    ],
  );
  assert.ok(rows.every(({ cost }) => (cost ?? 0) > 0));
  const lost = await ask("google/gemini-2.5-pro");
  assert.deepEqual([lost.internalCode, /name the project/.test(lost.error[0].message)], [2019, true]);
  assert.equal((await ask("meta/llama-4")).internalCode, 2008);
  assert.equal(provider.seen.length, 2);
});

test("Vertex: project and region come from the stored service account, for streams of both publishers", async (t) => {
  const sse = (res: ServerResponse, events: readonly object[]): void =>
    void res
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  const key = (await import("node:crypto")).generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  let origin = "";
  const account = () =>
    JSON.stringify({
      type: "service_account",
      project_id: "acme",
      region: "europe-west4",
      client_email: "robot@acme",
      private_key: key.export({ type: "pkcs8", format: "pem" }),
      token_uri: `${origin}/token`,
    });
  const { base, provider, rows } = await cloud(t, {}, (res, url) => {
    if (url === "/token") return json(res, { access_token: "issued", expires_in: 3600 });
    if (url.includes("/google/"))
      return sse(res, [
        { candidates: [{ content: { parts: [{ text: "Hel" }] } }] },
        {
          candidates: [{ content: { parts: [{ text: "lo" }] }, finishReason: "STOP" }],
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
        },
      ]);
    return sse(res, [
      { type: "message_start", message: { id: "m", usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ]);
  });
  origin = provider.url;
  for (const [model, place] of [
    ["google/gemini-2.5-pro", `/v1/${MODEL_PLACE}/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`],
    ["anthropic/claude-opus-4@20250514", `/v1/${MODEL_PLACE}/anthropic/models/claude-opus-4%4020250514:streamRawPredict`],
  ] as const) {
    // The client sends the service account's file as its token; a stored one is used the same way.
    const client = new OpenAI({ baseURL: `${base}/gw/compat`, apiKey: account(), maxRetries: 0 });
    let text = "";
    const asked = { model: `google-vertex-ai/${model}`, messages: MESSAGES, stream: true } as const;
    for await (const chunk of await client.chat.completions.create(asked)) text += chunk.choices[0]?.delta.content ?? "";
    assert.equal(text, "Hello");
    const { url, headers } = provider.seen.at(-1) ?? {};
    assert.deepEqual([url, headers?.authorization], [place, "Bearer issued"]);
  }
  assert.deepEqual(
    rows.map(({ tokens_in, tokens_out, success }) => [tokens_in, tokens_out, success]),
    [
      [9, 3, true],
      [9, 3, true],
    ],
  );
  assert.ok(!JSON.stringify(rows).includes("PRIVATE KEY"));
});

test("Azure: the deployment is in the path, the key in its own field, and the version as requested", async (t) => {
  const { base, provider, rows } = await cloud(t, { "azure-openai": "azure-key" }, (res) =>
    json(res, {
      choices: [{ index: 0, message: { role: "assistant", content: "hi" } }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    }),
  );
  const ask = async (query: string, headers: Record<string, string>): Promise<number> => {
    const body = JSON.stringify({ ...TEST_CHAT, model: "azure-openai/acme/my-gpt" });
    return (
      await fetch(`${base}/gw/compat/chat/completions${query}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...TOKEN, ...headers },
        body,
      })
    ).status;
  };
  const token = "eyJhbGciOi.eyJhdWQiOi.c2lnbmF0dXJl";
  assert.equal(await ask("", {}), 200);
  assert.equal(await ask("?api-version=2024-10-21", { authorization: "Bearer own-key" }), 200);
  assert.equal(await ask("", { authorization: `Bearer ${token}` }), 200);
  assert.deepEqual(
    provider.seen.map(({ url, headers }) => [url, headers["api-key"], headers.authorization]),
    [
      ["/openai/deployments/my-gpt/chat/completions?api-version=2025-04-01-preview", "azure-key", undefined],
      ["/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21", "own-key", undefined],
      ["/openai/deployments/my-gpt/chat/completions?api-version=2025-04-01-preview", undefined, `Bearer ${token}`],
    ],
  );
  assert.deepEqual([rows[0]?.model, rows[0]?.tokens_in], ["my-gpt", 3]);
});

test("an unusable stored key fails only its own step", async (t) => {
  const provider = await testProvider(t, (res) => json(res, { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }));
  const foreign = createSealer(Buffer.alloc(32, 8)).seal("sk", "provider-key:openai");
  const { base, rows } = await gatewayFront(t, {
    ops: [
      gatewayOp("gw"),
      gatewayTokenOp("token"),
      {
        kind: "provider_key",
        id: "openai",
        value: { account_id: GATEWAY_ACCOUNT, gateway_id: "gw", provider: "openai", alias: "default", is_default: true, secret: foreign },
      },
      keyOp("google-vertex-ai", '{"client_email":"x","private_key":"no key","project_id":"p"}'),
    ],
    providers: { openai: provider.url, groq: provider.url, "google-vertex-ai": provider.url },
    deps: { sealer: SEALER },
  });
  const steps = [
    { provider: "openai", endpoint: "chat/completions", query: TEST_CHAT },
    { provider: "compat", endpoint: "chat/completions", query: { ...TEST_CHAT, model: "google-vertex-ai/google/gemini-2.5-pro" } },
    { provider: "groq", endpoint: "chat/completions", headers: { authorization: "Bearer own" }, query: TEST_CHAT },
  ];
  const ask = (plan: readonly object[]): Promise<Response> =>
    fetch(`${base}/gw`, { method: "POST", headers: { "content-type": "application/json", ...TOKEN }, body: JSON.stringify(plan) });
  const answer = await ask(steps);
  assert.deepEqual([answer.status, answer.headers.get("svc-aig-step"), provider.seen.length], [200, "2", 1]);
  const failed = await ask(steps.slice(0, 2));
  assert.deepEqual([failed.status, ((await failed.json()) as { internalCode: number }).internalCode], [400, 2906]);
  assert.deepEqual(
    rows.map(({ provider: name, success }) => [name, success]),
    [
      ["groq", true],
      ["google-vertex-ai", false],
    ],
  );
});

test("embeddings of Vertex AI and Bedrock have OpenAI's format, with reported or estimated usage", async (t) => {
  const { client, provider, rows } = await cloud(t, { "aws-bedrock": AWS_KEY }, (res, url) => {
    if (url.endsWith(":predict"))
      return json(res, {
        predictions: [
          { embeddings: { values: [0.5, 1], statistics: { token_count: 3, truncated: false } } },
          { embeddings: { values: [-1, 0.25], statistics: { token_count: 4, truncated: false } } },
        ],
      });
    if (url.includes("cohere")) return json(res, { embeddings: { float: [[0.5, 1]] }, response_type: "embeddings_by_type" });
    return json(res, { embedding: [0.5, 1], inputTextTokenCount: 2 });
  });
  const embed = async (model: string, input: string | string[], dimensions?: number) => {
    const { data, usage } = await client.embeddings.create({ model, input, ...(dimensions === undefined ? {} : { dimensions }) });
    return [data.map(({ embedding }) => Array.from(embedding)), usage.prompt_tokens];
  };
  const vertex = await embed(`google-vertex-ai/${MODEL_PLACE}/google/models/text-embedding-005`, ["one", "two"], 2);
  assert.deepEqual(vertex, [
    [
      [0.5, 1],
      [-1, 0.25],
    ],
    7,
  ]);
  assert.deepEqual(await embed("aws-bedrock/amazon.titan-embed-text-v2:0", "hello", 2), [[[0.5, 1]], 2]);
  assert.deepEqual(await embed("aws-bedrock/us-east-1/cohere.embed-v4:0", ["hello"]), [[[0.5, 1]], 0]);
  assert.deepEqual(
    provider.seen.map(({ url, body }) => [url, JSON.parse(body)]),
    [
      [
        `/v1/${MODEL_PLACE}/google/models/text-embedding-005:predict`,
        { instances: [{ content: "one" }, { content: "two" }], parameters: { outputDimensionality: 2 } },
      ],
      ["/model/amazon.titan-embed-text-v2%3A0/invoke", { inputText: "hello", dimensions: 2 }],
      ["/model/cohere.embed-v4%3A0/invoke", { texts: ["hello"], input_type: "search_document" }],
    ],
  );
  assert.match(provider.seen[1]?.headers.authorization ?? "", /\/eu-central-1\/bedrock\/aws4_request/);
  assert.deepEqual(
    rows.map(({ model, model_type, estimated, tokens_in, tokens_out }) => [model, model_type, estimated, (tokens_in ?? 0) > 0, tokens_out]),
    [
      ["text-embedding-005", "embedding", true, true, 0],
      ["amazon.titan-embed-text-v2:0", "embedding", true, true, 0],
      ["cohere.embed-v4:0", "embedding", true, true, 0],
    ],
  );
  for (const [model, input] of [
    ["aws-bedrock/amazon.titan-embed-text-v2:0", ["one", "two"]],
    ["aws-bedrock/cohere.embed-v4:0", [[1, 2]]],
  ] as const)
    await assert.rejects(embed(model, input as unknown as string[]), (error) => error instanceof APIError && error.status === 400);
  assert.equal(provider.seen.length, 3);
});
