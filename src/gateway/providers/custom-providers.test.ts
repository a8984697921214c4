import { test } from "node:test";
import assert from "node:assert/strict";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { CustomProviderEntry, Op } from "#snapshot/entries.ts";
import {
  answerChat,
  GATEWAY_ACCOUNT,
  gatewayFront,
  gatewayOp,
  postJson,
  TEST_CHAT,
  testProvider,
} from "../../../test/support/gateway-front.ts";

const SEALER = createSealer(Buffer.alloc(32, 7));

const providerOp = (id: string, base_url: string, more: Partial<CustomProviderEntry> = {}): Op => ({
  kind: "custom_provider",
  id,
  value: { account_id: GATEWAY_ACCOUNT, slug: id, base_url, costs: [], ...more },
});

test("a custom provider is called below its URL, with its fields and at its prices", async (t) => {
  const provider = await testProvider(t, (res) =>
    answerChat(res, "hello", {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }),
  );
  const costs = [
    { model: "big", rule: "equals", input: 1, output: 2 },
    { model: "sm", rule: "starts-with", input: 0.1, output: 0.2, cache_read: 0.01 },
    { model: "thinker", rule: "equals", input: 1, output: 2, reasoning: 10 },
  ] as const;
  const headers = SEALER.seal('{"x-team":"us"}', "custom-provider:mine");
  const ops = [gatewayOp("gw"), providerOp("mine", `${provider.url}/api/v9/`, { costs, headers })];
  const { base, rows, replica } = await gatewayFront(t, { ops, deps: { sealer: SEALER } });
  for (const model of ["big", "small", "thinker", "other"])
    await postJson(`${base}/gw/custom-mine/v1/chat/completions?x=1`, { ...TEST_CHAT, model });
  assert.deepEqual([provider.seen[0]?.url, provider.seen[0]?.headers["x-team"]], ["/api/v9/v1/chat/completions?x=1", "us"]);
  assert.deepEqual(
    rows.map(({ provider: name, model, cost }) => [name, model, cost]),
    [
      ["custom-mine", "big", 20],
      ["custom-mine", "small", 1.64],
      ["custom-mine", "thinker", 36],
      ["custom-mine", "other", null],
    ],
  );
  await postJson(`${base}/gw/compat/chat/completions`, { ...TEST_CHAT, model: "custom-mine/big" });
  assert.equal(provider.seen.at(-1)?.url, "/api/v9/chat/completions");
  replica.apply([{ kind: "custom_provider", id: "mine", value: null }]);
  assert.equal((await postJson(`${base}/gw/custom-mine/chat/completions`, TEST_CHAT)).status, 400);
});

test("the gateway does not connect to a custom provider at an address that the operator forbids", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "secret"));
  const port = new URL(provider.url).port;
  const ops = [
    gatewayOp("gw"),
    providerOp("literal", provider.url),
    providerOp("mapped", `http://[::ffff:127.0.0.1]:${port}`),
    providerOp("named", `http://localhost:${port}`),
    providerOp("metadata", "http://169.254.169.254/latest"),
    providerOp("file", "file:///etc/passwd"),
  ];
  // A gateway on all addresses can be reached by others, so it must not reach into its own network for them.
  const publicly = await gatewayFront(t, { ops, config: { host: "0.0.0.0" } });
  const statusOf = async (base: string, slug: string): Promise<number> =>
    (await postJson(`${base}/gw/custom-${slug}/chat/completions`, TEST_CHAT)).status;
  assert.deepEqual(
    await Promise.all(["literal", "mapped", "named", "metadata", "file"].map((slug) => statusOf(publicly.base, slug))),
    [400, 400, 502, 400, 400],
  );
  assert.equal(provider.seen.length, 0);
  const allowed = await gatewayFront(t, { ops, config: { host: "0.0.0.0", providerAllow: ["127.0.0.0/8", "::1/128"] } });
  assert.deepEqual(
    [await statusOf(allowed.base, "literal"), await statusOf(allowed.base, "named"), await statusOf(allowed.base, "metadata")],
    [200, 200, 400],
  );
  const onLoopback = await gatewayFront(t, { ops });
  assert.equal(await statusOf(onLoopback.base, "literal"), 200);
});

test("a step with a forbidden address is skipped for the next one", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const ops = [gatewayOp("gw"), providerOp("inner", "http://10.0.0.1:9")];
  const { base, rows } = await gatewayFront(t, { ops, config: { host: "0.0.0.0" }, providers: { openai: provider.url } });
  const step = (name: string): object => ({ provider: name, endpoint: "chat/completions", query: TEST_CHAT, config: { maxAttempts: 3 } });
  const answer = await postJson(`${base}/gw`, [step("custom-inner"), step("openai")]);
  assert.deepEqual([answer.status, answer.headers.get("svc-aig-step"), rows.length], [200, "1", 1]);
  const refused = await postJson(`${base}/gw`, [step("custom-inner")]);
  assert.deepEqual([refused.status, rows.length], [400, 2]);
});

test("the gateway requests usage of a custom provider's stream, and removes it if the client did not", async (t) => {
  const counts = { prompt_tokens: 10, completion_tokens: 5 };
  const provider = await testProvider(t, (res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n');
    res.end(`data: ${JSON.stringify({ choices: [], usage: counts })}\n\ndata: [DONE]\n\n`);
  });
  const costs = [{ model: "big", rule: "equals", input: 1, output: 2 }] as const;
  const { base, rows } = await gatewayFront(t, { ops: [gatewayOp("gw"), providerOp("mine", provider.url, { costs })] });
  const streamed = { ...TEST_CHAT, model: "big", stream: true };
  const texts: string[] = [];
  for (const path of ["custom-mine/chat/completions", "custom-mine/v1/chat/completions"])
    texts.push(await (await postJson(`${base}/gw/${path}`, streamed)).text());
  texts.push(await (await postJson(`${base}/gw/compat/chat/completions`, { ...streamed, model: "custom-mine/big" })).text());
  for (const { body } of provider.seen) assert.deepEqual(JSON.parse(body.toString()).stream_options, { include_usage: true });
  assert.deepEqual(
    texts.map((text) => [text.includes("usage"), text.includes('"content":"hi"'), text.includes("[DONE]")]),
    texts.map(() => [false, true, true]),
  );
  assert.deepEqual(
    rows.map(({ cost, estimated }) => [cost, estimated]),
    texts.map(() => [20, false]),
  );
});

test("a provider whose URL leads back to the gateway gets one request and no endless loop", async (t) => {
  const { base, replica, rows, metric } = await gatewayFront(t, { deps: { sealer: SEALER } });
  const steps = { provider: "custom-loop", endpoint: "x", query: {} };
  const hiding = SEALER.seal('{"cdn-loop":"nobody","connection":"cdn-loop"}', "custom-provider:hides");
  replica.apply([
    providerOp("loop", `${base}/gw/custom-loop`),
    providerOp("hides", `${base}/gw/custom-hides`, { headers: hiding }),
    providerOp("other", `${base}/gw/custom-loop`),
  ]);
  for (const slug of ["loop", "hides"]) {
    rows.length = 0;
    const response = await fetch(`${base}/gw/custom-${slug}/x`);
    assert.deepEqual([response.status, ((await response.json()) as { internalCode: number }).internalCode], [508, 2914], slug);
    assert.equal(rows.length, 1, slug);
  }
  const refused = metric("selvedge_gateway_refused_total");
  assert.equal((await postJson(`${base}/gw`, [steps, { ...steps, provider: "custom-other" }])).status, 508);
  assert.equal(metric("selvedge_gateway_refused_total"), refused + 2, "one for each step");
  const next = await fetch(`${base}/gw/custom-loop/x`, { headers: { "cdn-loop": "svc-aig, svc-aig-of-another, edge; v=1" } });
  assert.equal(next.status, 508, "what others have added stands before it");
});

test("a provider neither gets nor sets the session cookie of the management API", async (t) => {
  const provider = await testProvider(t, (res) => {
    res.setHeader("set-cookie", ["selvedge=theirs; Path=/", "__Host-selvedge=theirs; Path=/; Secure", "selvedge2=kept"]);
    answerChat(res, "hello");
  });
  const { base } = await gatewayFront(t, { ops: [gatewayOp("gw"), providerOp("mine", provider.url)] });
  const headers = { cookie: "a=b; selvedge=SECRET; __Host-selvedge=SECRET; c=d" };
  const response = await postJson(`${base}/gw/custom-mine/chat/completions`, TEST_CHAT, headers);
  assert.equal(response.status, 200);
  assert.deepEqual(response.headers.getSetCookie(), ["selvedge2=kept"]);
  assert.equal(provider.seen.at(-1)?.headers.cookie, "a=b; selvedge=xxxxxx; __Host-selvedge=xxxxxx; c=d");
});

test("a loop back through the edge is detected, and a path through another edge or gateway is not a loop", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const ops = [gatewayOp("gw"), providerOp("mine", provider.url)];
  const { base, edgePort } = await gatewayFront(t, { ops, config: { edgePort: 0 } });
  const path = `/gw/custom-mine/chat/completions`;
  assert.equal((await postJson(`${base}${path}`, TEST_CHAT)).status, 200);
  const name = String(provider.seen.at(-1)?.headers["cdn-loop"]);
  assert.match(name, /^svc-aig-[0-9a-f]{32}$/);
  const throughEdge = (passed: string): Promise<Response> =>
    postJson(base.replace(/:\d+\//, `:${edgePort}/`) + path, TEST_CHAT, { "cdn-loop": passed });
  assert.equal((await throughEdge(`${name}, svc`)).status, 508);
  for (const [passed, told] of [
    ["svc", name],
    ["far; v=1, svc", `far; v=1, ${name}`],
    ["svc-aig-0123, svc", `svc-aig-0123, ${name}`],
  ] as const) {
    assert.equal((await throughEdge(passed)).status, 200, passed);
    assert.equal(provider.seen.at(-1)?.headers["cdn-loop"], told);
  }
});
