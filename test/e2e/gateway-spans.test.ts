import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { OtelEndpointEntry } from "#snapshot/entries.ts";
import { eventually, settled } from "../support/eventually.ts";
import { answerChat, GATEWAY_ACCOUNT, gatewayFront, gatewayOp, postJson, TEST_CHAT, testProvider } from "../support/gateway-front.ts";

const SEALER = createSealer(Buffer.alloc(32, 7));
const SECRET = "Bearer collector-secret-of-a-customer";

const endpointTo = (url: string, more: Partial<OtelEndpointEntry> = {}, fields: object = { authorization: SECRET }): OtelEndpointEntry => ({
  url,
  content_type: "json",
  secret: SEALER.seal(JSON.stringify(fields), `gateway-otel:${GATEWAY_ACCOUNT}/gw`),
  ...more,
});

interface Taken {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A collector that answers with the statuses given, the last one for ever. */
async function collector(t: TestContext, statuses: readonly number[] = [200]): Promise<{ readonly url: string; readonly taken: Taken[] }> {
  const taken: Taken[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const at = taken.push({ url: req.url ?? "", headers: req.headers, body: Buffer.concat(chunks) });
      res.writeHead(statuses[Math.min(at, statuses.length) - 1] ?? 200, { "retry-after": "0" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces?x=1`, taken };
}

const front = async (t: TestContext, otel: readonly OtelEndpointEntry[], more: Parameters<typeof gatewayFront>[1] = {}) => {
  const provider = await testProvider(t, (res, { body }) => {
    if (body.includes('"fail"')) return void res.writeHead(500).end();
    if (!body.includes('"stream":true')) return answerChat(res, "hello");
    const event = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    res.writeHead(200, { "content-type": "text/event-stream" });
    return void res.end(`${event({ content: "hel" }, null)}${event({ content: "lo" }, null)}${event({}, "stop")}data: [DONE]\n\n`);
  });
  const made = await gatewayFront(t, {
    ops: [gatewayOp("gw", { otel })],
    providers: { openai: provider.url },
    deps: { sealer: SEALER },
    limits: { spanDelayMs: 20, spanRetryDelayMs: 5 },
    ...more,
  });
  return { ...made, chat: `${made.base}/gw/openai/chat/completions` };
};

const spansIn = (taken: readonly Taken[]): any[] =>
  taken.flatMap(({ body }) =>
    JSON.parse(body.toString()).resourceSpans.flatMap((one: any) => one.scopeSpans.flatMap((scope: any) => scope.spans)),
  );
const attributesOf = (span: any): Record<string, unknown> =>
  Object.fromEntries(span.attributes.map(({ key, value }: any) => [key, Object.values(value)[0]]));

test("a request becomes a span at each endpoint, with its trace ID and attributes", async (t) => {
  const [one, other] = [await collector(t), await collector(t)];
  const { chat, rows } = await front(t, [endpointTo(one.url), endpointTo(other.url, {}, { "x-team": "us" })]);
  const trace = "0af7651916cd43dd8448eb211c80319c";
  await postJson(chat, TEST_CHAT, {
    "svc-aig-otel-trace-id": trace.toUpperCase(),
    "cf-aig-otel-parent-span-id": "b7ad6b7169203331",
    "svc-aig-metadata": '{"team":"red","tier":2,"beta":true}',
  });
  await eventually(() => one.taken.length === 1 && other.taken.length === 1);
  const [request] = one.taken;
  assert.deepEqual(
    [request?.url, request?.headers["content-type"], request?.headers.authorization],
    ["/v1/traces?x=1", "application/json", SECRET],
  );
  assert.deepEqual([other.taken[0]?.headers["x-team"], other.taken[0]?.headers.authorization], ["us", undefined]);
  const [span] = spansIn(one.taken);
  assert.deepEqual([span.traceId, span.parentSpanId, span.name, span.kind], [trace, "b7ad6b7169203331", "chat gpt-4o-mini", 3]);
  assert.match(span.spanId, /^[0-9a-f]{16}$/);
  assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
  const attributes = attributesOf(span);
  assert.deepEqual(
    [
      "gen_ai.request.model",
      "gen_ai.model.provider",
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.output_tokens",
      "gen_ai.usage.cost",
      "team",
      "tier",
      "beta",
      "aig.log_id",
    ].map((name) => attributes[name]),
    ["gpt-4o-mini", "openai", "10", "5", rows[0]?.cost, "red", "2", true, rows[0]?.id],
  );
  assert.deepEqual(JSON.parse(attributes["gen_ai.prompt_json"] as string), TEST_CHAT);
  assert.equal(JSON.parse(attributes["gen_ai.completion_json"] as string).choices[0].message.content, "hello");
});

test("streams, failed requests and requests without payload or row become spans", async (t) => {
  const { url, taken } = await collector(t);
  const { chat } = await front(t, [endpointTo(url)]);
  await (await postJson(chat, { ...TEST_CHAT, stream: true })).text();
  await postJson(chat, { ...TEST_CHAT, model: "fail" });
  await postJson(chat, TEST_CHAT, { "svc-aig-collect-log-payload": "false" });
  await postJson(chat, { ...TEST_CHAT, model: "unseen" }, { "svc-aig-collect-log": "false" });
  await eventually(() => spansIn(taken).length === 3);
  const [streamed, failed, bare] = spansIn(taken);
  assert.equal(attributesOf(streamed)["gen_ai.completion_json"], '{"content":"hello"}');
  assert.deepEqual([failed.status, attributesOf(failed)["http.response.status_code"]], [{ code: 2, message: "status 500" }, "500"]);
  assert.deepEqual([bare.status, attributesOf(bare)["gen_ai.prompt_json"]], [{}, undefined]);
});

test("a gateway without logs still sends spans, with secrets masked", async (t) => {
  const { url, taken } = await collector(t);
  const { chat, rows } = await front(t, [endpointTo(url)], { ops: [gatewayOp("gw", { otel: [endpointTo(url)], collect_logs: false })] });
  await postJson(chat, { ...TEST_CHAT, user: "canary-provider-key" }, { authorization: "Bearer canary-provider-key" });
  await eventually(() => taken.length === 1);
  assert.equal(rows.length, 0);
  assert.doesNotMatch(taken[0]?.body.toString() ?? "", /canary/);
});

test("the exporter retries a busy endpoint and drops spans that an endpoint refuses", async (t) => {
  const busy = await collector(t, [503, 429, 200]);
  const refusing = await collector(t, [400]);
  const { chat, metric } = await front(t, [endpointTo(busy.url), endpointTo(refusing.url)]);
  await postJson(chat, TEST_CHAT);
  await eventually(() => busy.taken.length === 3 && metric("selvedge_gateway_spans_total") === 2);
  assert.deepEqual(new Set(busy.taken.map(({ body }) => body.toString())).size, 1, "the same spans each time");
  assert.equal(refusing.taken.length, 1);
});

test("an endpoint that leads back to the gateway is refused, and its spans create no more spans", async (t) => {
  const { base, chat, replica, rows, metric } = await front(t, []);
  replica.apply([gatewayOp("gw", { otel: [endpointTo(chat, {}, { "cdn-loop": "nobody" })] })]);
  assert.equal((await postJson(chat, TEST_CHAT)).status, 200);
  await eventually(() => metric("selvedge_gateway_spans_total") === 1);
  await settled(200);
  assert.equal(rows.length, 1);
  assert.equal(metric("selvedge_gateway_spans_total"), 1);
  assert.equal(metric("selvedge_gateway_refused_total"), 1, base);
});

test("a public gateway sends no spans to private addresses", async (t) => {
  const { url, taken } = await collector(t);
  const endpoints = [url, url.replace("127.0.0.1", "localhost")].map((one) => endpointTo(one));
  const otel = [...endpoints, endpointTo("http://169.254.169.254/v1/traces")];
  const { chat, metric } = await front(t, otel, {
    ops: [gatewayOp("gw", { otel })],
    config: { host: "0.0.0.0", providerAllow: [] },
  });
  assert.equal((await postJson(chat, TEST_CHAT)).status, 200);
  await eventually(() => metric("selvedge_gateway_spans_total") === 3);
  assert.equal(taken.length, 0);
});

/** Fields of a message by their numbers, values as they lie there. */
function fieldsOf(bytes: Buffer): Map<number, (Buffer | bigint)[]> {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const field = tag >> 3;
    const taken = (length: number): Buffer => bytes.subarray(at, (at += length));
    const value = (tag & 7) === 0 ? varint() : taken((tag & 7) === 1 ? 8 : Number(varint()));
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

test("a protobuf span has the same content", async (t) => {
  const { url, taken } = await collector(t);
  const { chat } = await front(t, [endpointTo(url, { content_type: "protobuf" })]);
  await postJson(chat, TEST_CHAT, { "svc-aig-otel-trace-id": "0af7651916cd43dd8448eb211c80319c" });
  await eventually(() => taken.length === 1);
  assert.equal(taken[0]?.headers["content-type"], "application/x-protobuf");
  const bytes = (fields: Map<number, (Buffer | bigint)[]> | undefined, field: number): Buffer => fields?.get(field)?.[0] as Buffer;
  const inner = (message: Buffer, field: number): Buffer => bytes(fieldsOf(message), field);
  const span = fieldsOf(inner(inner(inner(taken[0]?.body as Buffer, 1), 2), 2));
  assert.equal(bytes(span, 1).toString("hex"), "0af7651916cd43dd8448eb211c80319c");
  assert.equal(String(span.get(5)?.[0]), "chat gpt-4o-mini");
  const attributes = new Map((span.get(9) ?? []).map((pair) => [String(inner(pair as Buffer, 1)), fieldsOf(inner(pair as Buffer, 2))]));
  assert.equal(String(attributes.get("gen_ai.request.model")?.get(1)?.[0]), "gpt-4o-mini");
  assert.equal(attributes.get("gen_ai.usage.output_tokens")?.get(3)?.[0], 5n);
  assert.ok(bytes(attributes.get("gen_ai.usage.cost"), 4).readDoubleLE() > 0);
});
