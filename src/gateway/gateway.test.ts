import { test, type TestContext } from "node:test";
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { type FixedClock, fixedClock } from "#kernel/clock.ts";
import { type MetricRegistry, createMetrics } from "#kernel/process/metrics.ts";
import type { EventSink, GatewayLogRow } from "#events/rows/rows.ts";
import type { GatewayEntry, Op, TokenEntry } from "#snapshot/entries.ts";
import { type MemoryReplica, createMemoryReplica } from "#snapshot/memory-replica.ts";
import { GATEWAY_LIMITS, type GatewayLimits } from "./config.ts";
import { createGateway } from "./gateway.ts";
import { eventually } from "../../test/support/eventually.ts";

const ACCOUNT = "a".repeat(32);
const TOKEN = "gateway-token-of-forty-characters-length";

interface Stage {
  readonly mock: LLMock;
  readonly base: string;
  readonly port: number;
  readonly rows: GatewayLogRow[];
  readonly replica: MemoryReplica;
  readonly clock: FixedClock;
  readonly metrics: MetricRegistry;
}

const gatewayOp = (id: string, value: Partial<GatewayEntry> = {}): Op => ({
  kind: "gateway",
  id: `${ACCOUNT}/${id}`,
  value: { account_id: ACCOUNT, gateway_id: id, authentication: false, collect_logs: true, ...value },
});

const tokenOp = (secret: string, value: Partial<TokenEntry> = {}, id = secret): Op => ({
  kind: "token",
  id,
  value: {
    hash: createHash("sha256").update(secret).digest("hex"),
    accounts: [ACCOUNT],
    not_before: null,
    expires_on: null,
    addresses: { allow: [], deny: [] },
    ...value,
  },
});

/** A gateway before a third-party mock of providers; everything over real sockets. */
async function stage(t: TestContext, ops: readonly Op[], limits: Partial<GatewayLimits> = {}): Promise<Stage> {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  mock.onMessage("hello", {
    content: "Hi there, how are you today?",
    usage: { prompt_tokens: 13, completion_tokens: 8, total_tokens: 21 },
  });
  mock.onMessage("slowly", { content: "one two three four five six seven eight nine ten" }, { latency: 200, chunkSize: 4 });
  mock.onMessage("break", { content: "this answer is cut before its end" }, { chunkSize: 4, latency: 20, truncateAfterChunks: 3 });
  await mock.start();
  const rows: GatewayLogRow[] = [];
  const events: EventSink = { push: (table, row) => void (table === "gateway_logs" && rows.push(row as GatewayLogRow)) };
  const replica = createMemoryReplica(ops);
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const metrics = createMetrics();
  const config = {
    host: "127.0.0.1",
    port: 0,
    vendorPrefix: "svc",
    providers: { openai: `${mock.url}/v1` },
    limits: { ...GATEWAY_LIMITS, ...limits },
  };
  const gateway = createGateway({ replica, events, clock, metrics, config });
  const { port } = await gateway.listen();
  t.after(async () => {
    await gateway.close(1000);
    await mock.stop();
  });
  return { mock, port, base: `http://127.0.0.1:${port}/v1/${ACCOUNT}`, rows, replica, clock, metrics };
}

const client = (baseURL: string, headers: Record<string, string> = {}): OpenAI =>
  new OpenAI({ baseURL, apiKey: "provider-key", maxRetries: 0, defaultHeaders: headers });
const chat = { model: "gpt-4o-mini", messages: [{ role: "user" as const, content: "hello" }] };
const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer provider-key", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const metric = (metrics: MetricRegistry, name: string): number =>
  metrics
    .samples()
    .filter((sample) => sample.name === name)
    .reduce((sum, sample) => sum + sample.value, 0);

test("SPEC 4.1: the SDK completes a chat through the gateway, which stores exactly one row", async (t) => {
  const { mock, base, rows } = await stage(t, [gatewayOp("gw")]);
  const { data, response } = await client(`${base}/gw/openai`).chat.completions.create(chat).withResponse();
  assert.equal(data.choices[0]?.message.content, "Hi there, how are you today?");
  assert.equal(rows.length, 1);
  const { id, ...row } = rows[0] as GatewayLogRow;
  assert.equal(response.headers.get("svc-aig-log-id"), id);
  assert.equal(response.headers.get("svc-aig-step"), "0");
  assert.equal(response.headers.get("svc-aig-cache-status"), "MISS");
  assert.match(response.headers.get("svc-aig-event-id") ?? "", /^[0-9A-Z]{26}$/);
  const { request_bytes, response_bytes, event_id, user_agent, ...facts } = row;
  assert.ok(request_bytes > 0 && response_bytes > 0);
  assert.equal(response.headers.get("svc-aig-event-id"), event_id);
  assert.match(user_agent ?? "", /^OpenAI\/JS /);
  assert.deepEqual(facts, {
    at_ms: Date.parse("2026-01-01T00:00:00Z"),
    account_id: ACCOUNT,
    gateway_id: "gw",
    provider: "openai",
    model: "gpt-4o-mini",
    path: "/chat/completions",
    method: "POST",
    status_code: 200,
    success: true,
    cached: false,
    duration_ms: 0,
    tokens_in: 13,
    tokens_out: 8,
    cost: 0.00000675,
    custom_cost: false,
    step: 0,
    request_content_type: "application/json",
    response_content_type: "application/json",
    metadata: "",
    model_type: "llm",
    request_type: "chat",
    estimated: false,
    tokens_cache_read: null,
    tokens_cache_write: null,
    tokens_reasoning: null,
    first_byte_ms: 0,
    authentication: false,
    compatibility_mode: false,
    dlp_action: "",
    guardrail_action: "",
    guardrail_findings: "",
  });
  assert.equal(mock.getLastRequest()?.path, "/v1/chat/completions");
});

test("SPEC 4.1: both path forms and the universal clients' form reach the provider", async (t) => {
  const { mock, base } = await stage(t, [gatewayOp("gw")]);
  for (const path of ["/gw/openai/chat/completions", "/gw/openai/v1/chat/completions"]) {
    assert.equal((await post(base + path, chat)).status, 200);
    assert.equal(mock.getLastRequest()?.path, "/v1/chat/completions");
  }
  const models = await fetch(`${base}/gw/openai/models`);
  assert.equal(models.status, 200);
});

test("a stream arrives in chunks, and its row has the token counts", async (t) => {
  const { base, rows } = await stage(t, [gatewayOp("gw")]);
  const stream = await client(`${base}/gw/openai`).chat.completions.create({
    ...chat,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let pieces = 0;
  for await (const event of stream) {
    text += event.choices[0]?.delta.content ?? "";
    pieces++;
  }
  assert.equal(text, "Hi there, how are you today?");
  assert.ok(pieces > 2);
  await eventually(() => rows.length === 1);
  assert.deepEqual(
    [rows[0]?.success, rows[0]?.tokens_in, rows[0]?.tokens_out, rows[0]?.response_content_type],
    [true, 13, 8, "text/event-stream"],
  );
});

test("SPEC 3.1: the authentication setting decides which requests pass", async (t) => {
  const { mock, base, rows } = await stage(t, [gatewayOp("on", { authentication: true }), gatewayOp("off"), tokenOp(TOKEN)]);
  const bearer = { "svc-aig-authorization": `Bearer ${TOKEN}` };
  assert.equal((await post(`${base}/on/openai/chat/completions`, chat, bearer)).status, 200);
  assert.equal((await post(`${base}/on/openai/chat/completions`, chat)).status, 401);
  assert.equal((await post(`${base}/off/openai/chat/completions`, chat, bearer)).status, 200);
  assert.equal((await post(`${base}/off/openai/chat/completions`, chat, { "svc-aig-authorization": "Bearer wrong" })).status, 200);
  assert.equal((await post(`${base}/off/openai/chat/completions`, chat)).status, 200);
  assert.equal(rows.length, 4);
  assert.equal(mock.getRequests().length, 4);
});

test("SPEC 5.1 and SPEC 7.1: a request without a token fails, stores no row and calls no provider; every accepted header name works", async (t) => {
  const { mock, base, rows, metrics } = await stage(t, [gatewayOp("gw", { authentication: true }), tokenOp(TOKEN)]);
  await assert.rejects(
    client(`${base}/gw/openai`).chat.completions.create(chat),
    (error: InstanceType<typeof OpenAI.APIError>) => error.status === 401,
  );
  const refused = await post(`${base}/gw/openai/chat/completions`, chat);
  assert.deepEqual(await refused.json(), {
    success: false,
    result: [],
    messages: [],
    error: [{ code: 2009, message: "Unauthorized" }],
    name: "AiGatewayError",
    httpCode: 401,
    internalCode: 2009,
  });
  assert.equal(refused.headers.get("content-type"), "application/json");
  assert.equal(refused.headers.get("svc-aig-log-id"), null);
  for (const value of ["", "Bearer", "Bearer ", `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`, `Bearer ${TOKEN}, Bearer ${TOKEN}`]) {
    assert.equal((await post(`${base}/gw/openai/chat/completions`, chat, { "svc-aig-authorization": value })).status, 401, value);
  }
  assert.equal(rows.length, 0);
  assert.equal(mock.getRequests().length, 0);
  assert.equal(metric(metrics, "selvedge_gateway_refused_total"), 9);
  for (const name of ["svc-aig-authorization", "svc-aig-token", "cf-aig-authorization", "cf-aig-token"]) {
    await client(`${base}/gw/openai`, { [name]: `Bearer ${TOKEN}` }).chat.completions.create(chat);
  }
  assert.equal(rows.length, 4);
});

test("a token works only for its accounts, its time and its addresses", async (t) => {
  const { base, clock, replica } = await stage(t, [
    gatewayOp("gw", { authentication: true }),
    tokenOp("other-account", { accounts: ["b".repeat(32)] }),
    tokenOp("every-account", { accounts: "*" }),
    tokenOp("later", { not_before: "2026-01-01T00:00:10Z" }),
    tokenOp("ending", { expires_on: "2026-01-01T00:00:10Z" }),
    tokenOp("elsewhere", { addresses: { allow: ["192.0.2.0/24"], deny: [] } }),
    tokenOp("denied", { addresses: { allow: [], deny: ["127.0.0.0/8"] } }),
    tokenOp("here", { addresses: { allow: ["127.0.0.1/32"], deny: [] } }),
    tokenOp("unreadable", { addresses: { allow: ["nonsense"], deny: [] } }),
    tokenOp("timeless", { expires_on: "nonsense" }),
  ]);
  const status = async (secret: string): Promise<number> =>
    (await post(`${base}/gw/openai/chat/completions`, chat, { "svc-aig-token": `Bearer ${secret}` })).status;
  const expect = async (expected: Record<string, number>): Promise<void> => {
    for (const [secret, code] of Object.entries(expected)) assert.equal(await status(secret), code, secret);
  };
  await expect({
    "other-account": 401,
    "every-account": 200,
    later: 401,
    ending: 200,
    elsewhere: 401,
    denied: 401,
    here: 200,
    unreadable: 401,
    timeless: 401,
  });
  clock.advance(10_000);
  await expect({ later: 200, ending: 401 });
  replica.apply([{ kind: "token", id: "here", value: null }]);
  await expect({ here: 401, "every-account": 200 });
  replica.replace([gatewayOp("gw", { authentication: true }), tokenOp("here")]);
  await expect({ here: 200, "every-account": 401 });
});

test("the old secret of a rolled token stops working at once, even if it was cached", async (t) => {
  const { base, replica } = await stage(t, [gatewayOp("gw", { authentication: true }), tokenOp("old-secret", {}, "id")]);
  const status = async (secret: string): Promise<number> =>
    (await post(`${base}/gw/openai/chat/completions`, chat, { "svc-aig-token": `Bearer ${secret}` })).status;
  assert.equal(await status("old-secret"), 200);
  replica.apply([tokenOp("new-secret", {}, "id")]);
  assert.equal(await status("old-secret"), 401);
  assert.equal(await status("new-secret"), 200);
});

test("unknown gateway, unknown provider and malformed chats are refused with their codes, without a row", async (t) => {
  const { mock, base, rows } = await stage(t, [gatewayOp("gw"), gatewayOp("locked", { authentication: true })]);
  const refusal = async (path: string, body: unknown = chat): Promise<readonly [number, number]> => {
    const response = await post(base + path, body);
    const { error } = (await response.json()) as { error: [{ code: number }] };
    return [response.status, error[0].code];
  };
  assert.deepEqual(await refusal("/none/openai/chat/completions"), [400, 2001]);
  assert.deepEqual(await refusal("/gw/nobody/chat/completions"), [400, 2008]);
  assert.deepEqual(await refusal("/locked/nobody/chat/completions"), [401, 2009]);
  for (const body of ["", "{", "[]", "7", '{"messages":[]}', '{"model":7}', '{"model":""}'])
    assert.deepEqual(await refusal("/gw/openai/chat/completions", body), [400, 2019], body);
  for (const [body, why] of [
    ["7", "the body must be a JSON object"],
    ['{"messages":[]}', "model: must name a provider and its model"],
    ['{"model":"gpt-4o","messages":[]}', "model: must name a provider and its model"],
    ['{"model":"openai/","messages":[]}', "model: must name a provider and its model"],
  ] as const) {
    const { error } = (await (await post(`${base}/gw/compat/chat/completions`, body)).json()) as {
      error: [{ code: number; message: string }];
    };
    assert.deepEqual([error[0].code, error[0].message.includes(why)], [2019, true], error[0].message);
  }
  assert.equal(rows.length, 0);
  assert.equal(mock.getRequests().length, 0);
});

test("SPEC 5.1: the provider gets its own credential and no field of the gateway", async (t) => {
  const { mock, base } = await stage(t, [gatewayOp("gw", { authentication: true }), tokenOp(TOKEN)]);
  const own = {
    "svc-aig-authorization": `Bearer ${TOKEN}`,
    "svc-aig-metadata": "{}",
    "cf-aig-cache-ttl": "60",
    "cf-skip-cache": "true",
    "openai-organization": "org-1",
    "svc-aig-event-id": "my-event",
  };
  const response = await post(`${base}/gw/openai/chat/completions`, chat, own);
  assert.equal(response.headers.get("svc-aig-event-id"), "my-event");
  const seen = mock.getLastRequest()?.headers ?? {};
  assert.ok("authorization" in seen, "the stand-in's journal masks the value");
  assert.equal(seen["openai-organization"], "org-1");
  assert.deepEqual(
    Object.keys(seen).filter((name) => /^(svc|cf)-/.test(name)),
    [],
  );
});

test("rows contain no planted secret", async (t) => {
  const { base, rows } = await stage(t, [gatewayOp("gw", { authentication: true }), tokenOp(TOKEN)]);
  const canary = `canary-${randomBytes(12).toString("hex")}`;
  const headers = { "svc-aig-authorization": `Bearer ${TOKEN}`, authorization: `Bearer ${canary}`, cookie: canary, "x-api-key": canary };
  await post(
    `${base}/gw/openai/chat/completions?key=${canary}`,
    { ...chat, user: canary, messages: [{ role: "user", content: `hello ${canary}` }] },
    headers,
  );
  await post(`${base}/gw/openai/chat/completions`, { ...chat, messages: [{ role: "user", content: canary }] }, headers);
  assert.equal(rows.length, 2);
  assert.ok(!JSON.stringify(rows).includes(canary));
  assert.ok(!JSON.stringify(rows).includes(TOKEN));
});

test("a client that disconnects aborts the provider's response and leaves one row", async (t) => {
  const { base, rows, metrics } = await stage(t, [gatewayOp("gw")]);
  const stream = await client(`${base}/gw/openai`).chat.completions.create({
    ...chat,
    messages: [{ role: "user", content: "slowly" }],
    stream: true,
  });
  // Leaving a loop over the stream would end the stream by itself, so this reads one event.
  await stream[Symbol.asyncIterator]().next();
  stream.controller.abort();
  await eventually(() => rows.length === 1);
  assert.equal(rows[0]?.success, false);
  await eventually(() => metric(metrics, "selvedge_gateway_active_requests") === 0);
});

test("a response that the provider cuts never looks complete", async (t) => {
  const { base, rows } = await stage(t, [gatewayOp("gw")]);
  const response = await post(`${base}/gw/openai/chat/completions`, {
    ...chat,
    messages: [{ role: "user", content: "break" }],
    stream: true,
  });
  assert.equal(response.status, 200);
  await assert.rejects(response.text());
  await eventually(() => rows.length === 1);
  assert.deepEqual([rows[0]?.success, rows[0]?.status_code], [false, 200]);
});

test("with log collection off no row is stored", async (t) => {
  const { base, rows, metrics } = await stage(t, [gatewayOp("gw", { collect_logs: false })]);
  const response = await post(`${base}/gw/openai/chat/completions`, chat);
  assert.deepEqual([response.status, response.headers.get("svc-aig-log-id")], [200, null]);
  assert.equal(rows.length, 0);
  assert.equal(metric(metrics, "selvedge_gateway_requests_total"), 1);
});

test("a snapshot change applies to the next request", async (t) => {
  const { base, replica } = await stage(t, []);
  const status = async (): Promise<number> => (await post(`${base}/gw/openai/chat/completions`, chat)).status;
  assert.equal(await status(), 400);
  replica.apply([gatewayOp("gw")]);
  assert.equal(await status(), 200);
  replica.apply([gatewayOp("gw", { authentication: true })]);
  assert.equal(await status(), 401);
  replica.apply([{ kind: "gateway", id: `${ACCOUNT}/gw`, value: null }]);
  assert.equal(await status(), 400);
});

test("requests above a gateway's rate limit are refused without a row and without the provider", async (t) => {
  const limited = gatewayOp("gw", { rate_limit: { limit: 2, interval_seconds: 60, technique: "fixed" } });
  const { mock, base, rows, metrics, clock } = await stage(t, [limited, gatewayOp("other")]);
  const url = `${base}/gw/openai/chat/completions`;
  for (let i = 0; i < 2; i++) assert.equal((await post(url, chat)).status, 200);
  const refused = await post(url, chat);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "60");
  assert.equal(((await refused.json()) as { internalCode: number }).internalCode, 2003);
  assert.equal(rows.length, 2);
  assert.equal(mock.getRequests().length, 2);
  assert.equal(metric(metrics, "selvedge_gateway_refused_total"), 1);
  assert.equal((await post(`${base}/other/openai/chat/completions`, chat)).status, 200);
  clock.advance(60_000);
  assert.equal((await post(url, chat)).status, 200);
});
