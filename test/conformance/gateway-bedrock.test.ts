import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand, InvokeModelCommand } from "@aws-sdk/client-bedrock-runtime";
import { encodeAmazonMessage } from "#wire/http/amazon-event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayFront, gatewayFront, testProvider, type TestProvider } from "../support/gateway-front.ts";

const MODEL = "anthropic.claude-3-haiku-20240307-v1:0";
const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const TEXT = "Good morning, how are you?";
const ANSWER = {
  output: { message: { role: "assistant", content: [{ text: TEXT }] } },
  stopReason: "end_turn",
  usage: USAGE,
  metrics: { latencyMs: 1 },
};
const message = (type: string, value: object): Buffer =>
  encodeAmazonMessage(
    { ":event-type": type, ":content-type": "application/json", ":message-type": "event" },
    Buffer.from(JSON.stringify(value)),
  );
const EVENTS: readonly Buffer[] = [
  message("messageStart", { role: "assistant" }),
  ...TEXT.split(/(?<= )/).map((text) => message("contentBlockDelta", { contentBlockIndex: 0, delta: { text } })),
  message("contentBlockStop", { contentBlockIndex: 0 }),
  message("messageStop", { stopReason: "end_turn" }),
  message("metadata", { usage: USAGE, metrics: { latencyMs: 1 } }),
];

interface Site extends GatewayFront {
  readonly provider: TestProvider;
  readonly client: BedrockRuntimeClient;
}

/** The SDK with the request handler that it has by itself, which speaks HTTP/2 alone. */
async function site(t: TestContext): Promise<Site> {
  const provider = await testProvider(t, (res, { url }) => {
    if (!url.endsWith("converse-stream"))
      return void res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(ANSWER));
    res.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    for (const bytes of EVENTS) res.write(bytes);
    res.end();
  });
  const front = await gatewayFront(t, { providers: { "aws-bedrock": provider.url } });
  const client = new BedrockRuntimeClient({
    endpoint: `${front.base}/gw/aws-bedrock/bedrock-runtime/us-east-1`,
    region: "us-east-1",
    credentials: { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "secret" },
    maxAttempts: 1,
  });
  t.after(() => client.destroy());
  return { ...front, provider, client };
}

const asking = (text: string) => ({ modelId: MODEL, messages: [{ role: "user" as const, content: [{ text }] }] });

describe("@aws-sdk/client-bedrock-runtime with its default handler", () => {
  test("Converse, one after the other and in parallel", async (t) => {
    const { client, rows, provider } = await site(t);
    assert.match(String(client.config.requestHandler.metadata?.handlerProtocol), /^h2/);
    const answers = [await client.send(new ConverseCommand(asking("hello")))];
    answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, i) => client.send(new ConverseCommand(asking(`hello ${i}`)))))));
    for (const { output, usage } of answers) assert.deepEqual([output?.message?.content?.[0]?.text, usage?.totalTokens], [TEXT, 15]);
    await eventually(() => rows.length === answers.length);
    for (const row of rows) assert.deepEqual([row.provider, row.tokens_in, row.tokens_out, row.success], ["aws-bedrock", 10, 5, true]);
    // Its signature reaches the provider as it was made.
    for (const { headers, url } of provider.seen) {
      assert.match(headers.authorization ?? "", /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/);
      assert.equal(url, `/model/${encodeURIComponent(MODEL)}/converse`);
    }
  });

  test("ConverseStream", async (t) => {
    const { client, rows } = await site(t);
    let text = "";
    let tokens: number | undefined;
    for await (const event of (await client.send(new ConverseStreamCommand(asking("hello")))).stream ?? []) {
      text += event.contentBlockDelta?.delta?.text ?? "";
      tokens ??= event.metadata?.usage?.totalTokens;
    }
    assert.deepEqual([text, tokens], [TEXT, 15]);
    await eventually(() => rows.length === 1);
    assert.deepEqual([rows[0]?.tokens_in, rows[0]?.tokens_out, rows[0]?.success], [10, 5, true]);
  });

  test("InvokeModel with a body of 1.2 MB, twice", async (t) => {
    const { client, provider } = await site(t);
    const body = JSON.stringify({ prompt: "0123456789".repeat(120_000) });
    for (let i = 0; i < 2; i++) {
      const answer = await client.send(new InvokeModelCommand({ modelId: MODEL, body, contentType: "application/json" }));
      assert.equal(JSON.parse(Buffer.from(answer.body).toString()).stopReason, "end_turn");
      assert.ok(provider.seen[i]?.body === body);
    }
  });

  test("a client that disconnects during a stream ends the request", async (t) => {
    const { client, rows, metric } = await site(t);
    const abort = new AbortController();
    await assert.rejects(async () => {
      const { stream = [] } = await client.send(new ConverseStreamCommand(asking("hello")), { abortSignal: abort.signal });
      abort.abort();
      for await (const event of stream) assert.ok(event);
      throw new Error("it had come already");
    });
    await eventually(() => rows.length === 1 && metric("selvedge_gateway_active_requests") === 0);
  });
});
