import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { eventually } from "../../test/support/eventually.ts";
import { answerChat, gatewayFront, postJson, TEST_CHAT, testProvider } from "../../test/support/gateway-front.ts";

test("invalid option fields are refused before a provider request", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const { base, rows } = await gatewayFront(t, { providers: { openai: provider.url } });
  const ask = (headers: Record<string, string>) => postJson(`${base}/gw/openai/chat/completions`, TEST_CHAT, headers);
  for (const [name, value] of [
    ["collect-log", "no"],
    ["collect-log-payload", "0"],
    ["skip-cache", "1"],
    ["cache-ttl", "-1"],
    ["max-attempts", "many"],
    ["backoff", "random"],
    ["custom-cost", "[]"],
    ["event-id", "two words"],
    ["event-id", "x".repeat(129)],
    ["otel-trace-id", "0".repeat(32)],
    ["otel-trace-id", "0af7651916cd43dd8448eb211c80319"],
    ["otel-parent-span-id", "b7ad6b716920333z"],
    ["zdr", "true"],
  ] as const)
    for (const prefix of ["svc", "cf"]) {
      const answer = await ask({ [`${prefix}-aig-${name}`]: value });
      const body = (await answer.json()) as { internalCode: number; error: [{ message: string }] };
      assert.deepEqual([answer.status, body.internalCode], [400, 2900], name);
      assert.match(body.error[0].message, new RegExp(`svc-aig-${name}`));
    }
  assert.deepEqual([provider.seen.length, rows.length], [0, 0]);
  const named = {
    "svc-aig-event-id": "x".repeat(128),
    "svc-aig-otel-trace-id": "0AF7651916CD43DD8448EB211C80319C",
    "svc-aig-zdr": "false",
  };
  assert.equal((await ask({ ...named, "svc-aig-collect-log": "false" })).status, 200);
  for (const value of ["TRUE", " false "]) assert.equal((await ask({ "svc-aig-collect-log": value })).status, 200);
  await eventually(() => rows.length === 1);
});

test("the duration of a response that its client abandons ends at the disconnect, even if usage arrives later", async (t) => {
  let isLeft = false;
  const provider = await testProvider(t, (res) => {
    res.on("close", () => (isLeft = true));
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "some words of an answer" } }] })}\n\n`);
  });
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const { base, rows } = await gatewayFront(t, { providers: { openai: provider.url }, deps: { clock } });
  const leaving = new AbortController();
  const answer = await fetch(`${base}/gw/openai/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...TEST_CHAT, stream: true }),
    signal: leaving.signal,
  });
  await answer.body?.getReader().read();
  clock.advance(40);
  leaving.abort();
  await eventually(() => isLeft);
  // The tokenizer has just begun to load.
  clock.advance(60_000);
  await eventually(() => rows.length === 1);
  assert.deepEqual([rows[0]?.duration_ms, rows[0]?.success, rows[0]?.estimated], [40, false, true]);
});

test("files of Anthropic by their ID bring the header of their preview, beside the client's own previews", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const { base } = await gatewayFront(t, { providers: { anthropic: provider.url } });
  const content = [{ type: "file", file: { file_id: "file_1" } }];
  for (const [headers, expected] of [
    [{}, "files-api-2025-04-14"],
    [{ "anthropic-beta": "other-2026-01-01" }, "other-2026-01-01,files-api-2025-04-14"],
  ] as const) {
    await postJson(
      `${base}/gw/compat/chat/completions`,
      { model: "anthropic/claude-sonnet-4-5", messages: [{ role: "user", content }] },
      headers,
    );
    assert.equal(provider.seen.at(-1)?.headers["anthropic-beta"], expected);
  }
  await postJson(
    `${base}/gw/compat/chat/completions`,
    { model: "anthropic/claude-sonnet-4-5", messages: [{ role: "user", content: "hi" }] },
    {},
  );
  assert.equal(provider.seen.at(-1)?.headers["anthropic-beta"], undefined);
});
