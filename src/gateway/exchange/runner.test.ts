import { test } from "node:test";
import assert from "node:assert/strict";
import { answerChat, gatewayFront, gatewayOp, postJson, TEST_CHAT, testProvider } from "../../../test/support/gateway-front.ts";

const FAST = { "svc-aig-retry-delay": "0" };

test("a failing provider is retried as often as the request says, and the client gets the last response", async (t) => {
  const provider = await testProvider(t, (res, _seen, number) => (number < 2 ? res.writeHead(503).end("no") : answerChat(res, "yes")));
  const { base, rows } = await gatewayFront(t, { providers: { openai: provider.url } });
  const url = `${base}/gw/openai/chat/completions`;
  const answer = await postJson(url, TEST_CHAT, { "cf-aig-max-attempts": "3", ...FAST });
  assert.equal(answer.status, 200);
  assert.equal(provider.seen.length, 3);
  assert.deepEqual(new Set(provider.seen.map(({ body }) => body)), new Set([JSON.stringify(TEST_CHAT)]));
  assert.deepEqual([rows.length, rows[0]?.status_code, rows[0]?.tokens_in], [1, 200, 10]);
});

test("without a retry setting nothing is retried, and the request's field overrides the gateway's setting", async (t) => {
  const provider = await testProvider(t, (res) => res.writeHead(500, { "content-type": "text/plain" }).end("broken"));
  const retrying = gatewayOp("retrying", { retry: { max_attempts: 3, delay_ms: 0 } });
  const { base, rows } = await gatewayFront(t, { ops: [gatewayOp("gw"), retrying], providers: { openai: provider.url } });
  const asked = async (gateway: string, headers: Record<string, string> = {}): Promise<number> => {
    const before = provider.seen.length;
    const answer = await postJson(`${base}/${gateway}/openai/chat/completions`, TEST_CHAT, headers);
    assert.deepEqual([answer.status, await answer.text()], [500, "broken"]);
    return provider.seen.length - before;
  };
  assert.equal(await asked("gw"), 1);
  assert.equal(await asked("retrying"), 3);
  assert.equal(await asked("retrying", { "svc-aig-max-attempts": "2" }), 2);
  assert.equal(await asked("gw", { "svc-aig-max-attempts": "99", ...FAST }), 5);
  assert.equal(rows.length, 4);
});

test("a client error of the provider is not retried", async (t) => {
  const provider = await testProvider(t, (res) => res.writeHead(401).end());
  const { base } = await gatewayFront(t, { providers: { openai: provider.url } });
  assert.equal((await postJson(`${base}/gw/openai/chat/completions`, TEST_CHAT, { "svc-aig-max-attempts": "5", ...FAST })).status, 401);
  assert.equal(provider.seen.length, 1);
});

test("a request is not retried after the client has received the first byte", async (t) => {
  const provider = await testProvider(t, (res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write("data: one\n\n", () => res.destroy());
  });
  const { base, rows } = await gatewayFront(t, { providers: { openai: provider.url } });
  const answer = await postJson(
    `${base}/gw/openai/chat/completions`,
    { ...TEST_CHAT, stream: true },
    { "svc-aig-max-attempts": "5", ...FAST },
  );
  assert.equal(answer.status, 200);
  await assert.rejects(answer.text());
  assert.equal(provider.seen.length, 1);
  assert.deepEqual([rows.length, rows[0]?.success], [1, false]);
});

test("a provider that exceeds the request's timeout is abandoned, and the request is retried", async (t) => {
  const provider = await testProvider(t, (res, _seen, number) => void (number > 0 && answerChat(res, "late but there")));
  const { base, rows } = await gatewayFront(t, { providers: { openai: provider.url } });
  const url = `${base}/gw/openai/chat/completions`;
  const timeout = { "svc-aig-request-timeout": "100" };
  assert.equal((await postJson(url, TEST_CHAT, timeout)).status, 504);
  const again = await gatewayFront(t, { providers: { openai: provider.url } });
  provider.seen.length = 0;
  const answer = await postJson(`${again.base}/gw/openai/chat/completions`, TEST_CHAT, {
    ...timeout,
    ...FAST,
    "svc-aig-max-attempts": "2",
  });
  assert.equal(answer.status, 200);
  assert.deepEqual([rows.length, rows[0]?.status_code, again.rows.length], [1, 504, 1]);
});

test("a client that disconnects between two attempts ends the retries", async (t) => {
  const provider = await testProvider(t, (res) => res.writeHead(503).end());
  const { base, rows, metric } = await gatewayFront(t, { providers: { openai: provider.url } });
  const leaving = new AbortController();
  const asked = fetch(`${base}/gw/openai/chat/completions`, {
    method: "POST",
    body: JSON.stringify(TEST_CHAT),
    headers: { "svc-aig-max-attempts": "5", "svc-aig-retry-delay": "5000" },
    signal: leaving.signal,
  });
  while (provider.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 30));
  leaving.abort();
  await assert.rejects(asked);
  while (rows.length === 0 || metric("selvedge_gateway_active_requests") > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([provider.seen.length, rows.length, rows[0]?.status_code], [1, 1, 499]);
});

test("a chat completion is routed to the provider in its model name", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const { base, rows } = await gatewayFront(t, { providers: { groq: `${provider.url}/openai/v1` } });
  const answer = await postJson(`${base}/gw/compat/chat/completions`, { ...TEST_CHAT, model: "groq/llama-3.1-8b-instant" });
  assert.deepEqual(
    [answer.status, answer.headers.get("svc-aig-provider"), answer.headers.get("svc-aig-model")],
    [200, "groq", "llama-3.1-8b-instant"],
  );
  assert.deepEqual(
    [provider.seen[0]?.url, JSON.parse(provider.seen[0]?.body ?? "").model],
    ["/openai/v1/chat/completions", "llama-3.1-8b-instant"],
  );
  assert.deepEqual([rows[0]?.provider, rows[0]?.model], ["groq", "llama-3.1-8b-instant"]);
  for (const model of ["gpt-4o", "/x", "openai/", 7])
    assert.equal(
      ((await (await postJson(`${base}/gw/compat/chat/completions`, { ...TEST_CHAT, model })).json()) as { internalCode: number })
        .internalCode,
      2019,
    );
  assert.equal(rows.length, 1);
});

test("a provider says whether the same request can succeed, and the next step is tried all the same", async (t) => {
  let failure: readonly [status: number, advice: Readonly<Record<string, string>>] = [429, {}];
  const provider = await testProvider(t, (res, _seen, number) => {
    if (number > 0) return answerChat(res, "hello");
    res.writeHead(failure[0], { "content-length": 2, ...failure[1] }).end("{}");
  });
  const retrying = gatewayOp("retrying", { retry: { max_attempts: 3, delay_ms: 0 } });
  const { base } = await gatewayFront(t, { ops: [retrying], providers: { openai: provider.url } });
  const asked = async (body: object, path: string): Promise<readonly [number, number]> => {
    provider.seen.length = 0;
    const { status } = await postJson(`${base}/retrying${path}`, body);
    return [status, provider.seen.length];
  };
  const step = { provider: "openai", endpoint: "chat/completions", headers: {}, query: TEST_CHAT };
  for (const [status, advice, seen] of [
    [429, undefined, [200, 2]],
    [429, "false", [429, 1]],
    [429, "maybe", [200, 2]],
    [400, undefined, [400, 1]],
    [400, "true", [200, 2]],
  ] as const) {
    failure = [status, advice === undefined ? {} : { "x-should-retry": advice }];
    assert.deepEqual(await asked(TEST_CHAT, "/openai/chat/completions"), seen, `${status} ${advice}`);
  }
  failure = [429, { "x-should-retry": "false" }];
  assert.deepEqual(await asked([step, step], ""), [200, 2]);
});
