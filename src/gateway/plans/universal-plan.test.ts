import { test } from "node:test";
import assert from "node:assert/strict";
import { answerChat, gatewayFront, gatewayOp, postJson, TEST_CHAT, testProvider } from "../../../test/support/gateway-front.ts";

const item = (provider: string, more: object = {}): object => ({
  provider,
  endpoint: "chat/completions",
  headers: { Authorization: `Bearer key-of-${provider}` },
  query: TEST_CHAT,
  ...more,
});

test("the universal endpoint calls the next provider when one fails, and names the step that responded", async (t) => {
  const failing = await testProvider(t, (res) => res.writeHead(500).end("down"));
  const working = await testProvider(t, (res) => answerChat(res, "here"));
  const { base, rows } = await gatewayFront(t, { providers: { openai: `${failing.url}/v1`, groq: `${working.url}/openai/v1` } });
  const steps = [item("openai", { endpoint: "v1/chat/completions", config: { maxAttempts: 2, retryDelay: 0 } }), item("groq")];
  for (const path of ["/gw", "/gw/"]) {
    const answer = await postJson(base + path, steps, { authorization: "Bearer of-the-request", "cf-aig-event-id": "mine" });
    assert.equal(answer.status, 200);
    assert.deepEqual(
      ["svc-aig-step", "cf-aig-step", "svc-aig-provider", "cf-aig-event-id"].map((name) => answer.headers.get(name)),
      ["1", "1", "groq", "mine"],
    );
  }
  assert.deepEqual(
    failing.seen.map(({ url, headers }) => [url, headers.authorization]),
    Array.from({ length: 4 }, () => ["/v1/chat/completions", "Bearer key-of-openai"]),
  );
  assert.deepEqual([working.seen[0]?.url, working.seen[0]?.headers.authorization], ["/openai/v1/chat/completions", "Bearer key-of-groq"]);
  assert.deepEqual(JSON.parse(working.seen[0]?.body ?? ""), TEST_CHAT);
  assert.deepEqual(
    rows.map(({ provider, model, step, path, status_code }) => [provider, model, step, path, status_code]),
    Array.from({ length: 2 }, () => ["groq", "gpt-4o-mini", 1, "/chat/completions", 200]),
  );
});

test("any failure of a step leads to the next one: a wrong key, a timeout, no connection; the last response counts", async (t) => {
  const refusing = await testProvider(t, (res) => res.writeHead(401).end("who are you"));
  const silent = await testProvider(t, () => undefined);
  const working = await testProvider(t, (res) => answerChat(res, "here"));
  const providers = { openai: refusing.url, groq: silent.url, deepseek: "http://127.0.0.1:1", mistral: working.url };
  const { base, rows } = await gatewayFront(t, { providers });
  const steps = [item("openai"), item("groq", { config: { requestTimeout: 100 } }), item("deepseek"), item("mistral")];
  const answer = await postJson(`${base}/gw`, steps);
  assert.deepEqual([answer.status, answer.headers.get("svc-aig-step")], [200, "3"]);
  const failed = await postJson(`${base}/gw`, steps.slice(0, 1));
  assert.deepEqual([failed.status, await failed.text()], [401, "who are you"]);
  assert.equal(rows.length, 2);
});

test("a step that has started its response is the last one", async (t) => {
  const breaking = await testProvider(t, (res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write("data: one\n\n", () => res.destroy());
  });
  const spare = await testProvider(t, (res) => answerChat(res, "here"));
  const { base, rows } = await gatewayFront(t, { providers: { openai: breaking.url, groq: spare.url } });
  const answer = await postJson(`${base}/gw`, [item("openai"), item("groq")]);
  await assert.rejects(answer.text());
  assert.deepEqual([spare.seen.length, rows.length, rows[0]?.provider, rows[0]?.success], [0, 1, "openai", false]);
});

test("an invalid list of steps is refused as a whole: no provider is called, and no row is written", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "here"));
  const { base, rows } = await gatewayFront(t, { ops: [gatewayOp("gw")], providers: { openai: provider.url } });
  const bad: readonly (readonly [unknown, number])[] = [
    ["{", 2900],
    [{}, 2900],
    [[], 2900],
    [Array.from({ length: 11 }, () => item("openai")), 2900],
    [["openai"], 2900],
    [[item("openai"), { endpoint: "chat/completions", query: {} }], 2900],
    [[item("openai"), item("nobody")], 2008],
    [[item("openai", { endpoint: "../admin" })], 2900],
    [[item("openai", { endpoint: 7 })], 2900],
    [[item("openai", { headers: { "x-bad": "a\r\nb: c" } })], 2900],
    [[item("openai", { headers: { "bad name": "a" } })], 2900],
    [[item("openai", { headers: [] })], 2900],
    [[item("openai", { config: { maxAttempts: "many" } })], 2900],
    [[item("openai", { query: { messages: [] } })], 2019],
  ];
  for (const [body, code] of bad) {
    const answer = await postJson(`${base}/gw`, body);
    assert.deepEqual([answer.status, ((await answer.json()) as { internalCode: number }).internalCode], [400, code], JSON.stringify(body));
  }
  assert.equal((await fetch(`${base}/gw`)).status, 400);
  assert.deepEqual([provider.seen.length, rows.length], [0, 0]);
});

test("invalid option fields are refused by name; numbers out of bounds are set to the nearest bound", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "here", { prompt_tokens: 1000, completion_tokens: 10 }));
  const { base, rows } = await gatewayFront(t, { providers: { openai: provider.url } });
  const ask = (headers: Record<string, string>): Promise<Response> => postJson(`${base}/gw/openai/chat/completions`, TEST_CHAT, headers);
  for (const [name, value] of [
    ["max-attempts", "many"],
    ["retry-delay", "-1"],
    ["backoff", "wild"],
    ["request-timeout", "1.5"],
    ["cache-ttl", "a day"],
    ["custom-cost", "free"],
    ["custom-cost", '{"per_token_in":-1}'],
    ["custom-cost", "{}"],
  ] as const) {
    const answer = await ask({ [`cf-aig-${name}`]: value });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), new RegExp(`svc-aig-${name} must`));
  }
  assert.equal(rows.length, 0);
  assert.equal((await ask({ "svc-aig-max-attempts": "99", "svc-aig-retry-delay": "99999" })).status, 200);
  await ask({ "svc-aig-custom-cost": '{"per_token_in":0.001,"per_token_out":0.01}' });
  await ask({ "svc-aig-custom-cost": '{"total_cost":0.5}' });
  assert.deepEqual(
    rows.map(({ cost, custom_cost }) => [cost, custom_cost]),
    [
      [0.000156, false],
      [1.1, true],
      [0.5, true],
    ],
  );
});

test("a refused request costs nothing, even if it states its own cost", async (t) => {
  const provider = await testProvider(t, (res, { body }) => answerChat(res, "here", {}, body.includes("bad") ? 500 : 200));
  const spend_rules = [{ id: "each", limit: 1, window_seconds: 60, technique: "fixed" as const }];
  const { base, rows } = await gatewayFront(t, { ops: [gatewayOp("gw", { spend_rules })], providers: { openai: provider.url } });
  const ask = (model: string): Promise<Response> =>
    postJson(`${base}/gw/openai/chat/completions`, { ...TEST_CHAT, model }, { "svc-aig-custom-cost": '{"total_cost":0.5}' });
  const statuses: number[] = [];
  for (const model of ["bad", "bad", "bad", "good", "good", "good"]) statuses.push((await ask(model)).status);
  assert.deepEqual(statuses, [500, 500, 500, 200, 200, 429]);
  assert.deepEqual(
    rows.map(({ cost }) => cost),
    [null, null, null, 0.5, 0.5, null],
  );
});
