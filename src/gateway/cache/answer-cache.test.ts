import { test, type TestContext } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSealer } from "#kernel/crypto/seal.ts";
import {
  answerChat,
  type FrontOptions,
  gatewayFront,
  type GatewayFront,
  gatewayOp,
  postJson,
  TEST_CHAT,
  testProvider,
  type TestProvider,
} from "../../../test/support/gateway-front.ts";
import { eventually, settled } from "../../../test/support/eventually.ts";
import { removeDirectory } from "../../../test/support/temporary.ts";

const KEEPING = gatewayOp("gw", { cache: { ttl_seconds: 60 } });

async function stage(t: TestContext, options: FrontOptions = {}): Promise<GatewayFront & { readonly provider: TestProvider }> {
  const provider = await testProvider(t, (res, _seen, number) => answerChat(res, `answer ${number}`));
  const front = await gatewayFront(t, { ops: [KEEPING, gatewayOp("off")], providers: { openai: provider.url }, ...options });
  return { ...front, provider };
}

interface Asked {
  readonly status: string;
  readonly text: string;
}

async function ask(
  base: string,
  headers: Record<string, string> = {},
  body: unknown = TEST_CHAT,
  path = "/gw/openai/chat/completions",
): Promise<Asked> {
  const answer = await postJson(base + path, body, headers);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return { status: answer.headers.get("svc-aig-cache-status") ?? "", text };
}

test("a cached response is served again byte for byte, at no cost, until its TTL ends", async (t) => {
  const { base, provider, rows, clock } = await stage(t);
  const first = await ask(base);
  const again = await ask(base);
  assert.deepEqual([first.status, again.status, again.text], ["MISS", "HIT", first.text]);
  assert.equal(provider.seen.length, 1);
  assert.deepEqual(
    rows.map(({ cached, cost, tokens_in, status_code }) => [cached, cost, tokens_in, status_code]),
    [
      [false, 0.0000045, 10, 200],
      [true, 0, 0, 200],
    ],
  );
  clock.advance(60_000);
  assert.deepEqual((await ask(base)).status, "MISS");
});

test("body, model, credential, region and gateway are part of the cache key", async (t) => {
  const { base, provider, replica } = await stage(t);
  replica.apply([gatewayOp("other", { cache: { ttl_seconds: 60 } })]);
  const asks: readonly Parameters<typeof ask>[] = [
    [base],
    [base, {}, { ...TEST_CHAT, temperature: 0.1 }],
    [base, {}, { ...TEST_CHAT, model: "gpt-4o" }],
    [base, { authorization: "Bearer another" }],
    [base, { "x-api-key": "another" }],
    [base, {}, TEST_CHAT, "/gw/openai/chat/completions?version=2"],
    [base, {}, TEST_CHAT, "/other/openai/chat/completions"],
    [base, {}, JSON.stringify(TEST_CHAT, null, 1)],
  ];
  for (const one of asks) assert.equal((await ask(...one)).status, "MISS");
  for (const one of asks) assert.equal((await ask(...one)).status, "HIT");
  assert.equal((await ask(base, { "svc-aig-metadata": '{"user":"x"}' })).status, "HIT", "metadata are no part of it");
  assert.equal(provider.seen.length, asks.length);
});

test("cache fields of the request override the gateway's setting, and a TTL of 0 stores nothing", async (t) => {
  const { base, clock } = await stage(t);
  const off = "/off/openai/chat/completions";
  for (const headers of [{}, { "svc-aig-cache-ttl": "0" }, { "cf-skip-cache": "true", "cf-aig-cache-ttl": "60" }])
    for (let i = 0; i < 2; i++) assert.equal((await ask(base, headers as Record<string, string>, TEST_CHAT, off)).status, "MISS");
  for (let i = 0; i < 2; i++) assert.equal((await ask(base, { "svc-aig-cache-ttl": "0" })).status, "MISS");
  assert.equal((await ask(base, { "cf-cache-ttl": "600" }, TEST_CHAT, off)).status, "MISS");
  clock.advance(599_000);
  assert.equal((await ask(base, { "cf-aig-cache-ttl": "600" }, TEST_CHAT, off)).status, "HIT");
  assert.equal((await ask(base, { "svc-aig-skip-cache": "true", "cf-aig-cache-ttl": "600" }, TEST_CHAT, off)).status, "MISS");
  clock.advance(1_000);
  assert.equal((await ask(base, { "cf-aig-cache-ttl": "600" }, TEST_CHAT, off)).status, "MISS");
});

test("a custom cache key is shared by different bodies, for five minutes by default, and not by streams", async (t) => {
  const { base, clock } = await stage(t);
  const off = "/off/openai/chat/completions";
  const key = { "svc-aig-cache-key": "greeting" };
  const first = await ask(base, key, TEST_CHAT, off);
  const again = await ask(base, { ...key, authorization: "Bearer another" }, { ...TEST_CHAT, user: "somebody" }, off);
  assert.deepEqual([first.status, again.status, again.text], ["MISS", "HIT", first.text]);
  assert.equal((await ask(base, key, { ...TEST_CHAT, stream: true }, off)).status, "MISS");
  clock.advance(300_000);
  assert.equal((await ask(base, key, TEST_CHAT, off)).status, "MISS");
});

test("a stream is cached and replayed as a stream, and a truncated one is not cached", async (t) => {
  const events = ['data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n', 'data: {"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n'];
  const ends: Record<string, string> = { whole: "data: [DONE]\n\n", short: "", cut: "" };
  const provider = await testProvider(t, (res, { body }) => {
    const kind = (JSON.parse(body) as { user: string }).user;
    res.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    res.write(events.join(""), () => (kind === "cut" ? res.destroy() : res.end(ends[kind])));
  });
  const { base, rows } = await gatewayFront(t, { ops: [KEEPING], providers: { openai: provider.url } });
  const stream = async (user: string): Promise<readonly [string | null, string | null, string]> => {
    const answer = await postJson(`${base}/gw/openai/chat/completions`, {
      ...TEST_CHAT,
      stream: true,
      stream_options: { include_usage: true },
      user,
    });
    const text = await answer.text().catch(() => "cut");
    return [answer.headers.get("svc-aig-cache-status"), answer.headers.get("content-type"), text];
  };
  const whole = [...events, "data: [DONE]\n\n"].join("");
  assert.deepEqual(await stream("whole"), ["MISS", "text/event-stream; charset=utf-8", whole]);
  assert.deepEqual(await stream("whole"), ["HIT", "text/event-stream; charset=utf-8", whole]);
  for (const user of ["short", "cut"]) for (let i = 0; i < 2; i++) assert.equal((await stream(user))[0], "MISS", user);
  assert.deepEqual(
    rows.map(({ cached }) => cached),
    [false, true, false, false, false, false],
  );
});

test("errors, and responses that create something at the provider, are never cached", async (t) => {
  const provider = await testProvider(t, (res, { url }, number) =>
    url.endsWith("/files") || number > 0 ? answerChat(res, `answer ${number}`) : answerChat(res, "no", {}, 404),
  );
  const { base } = await gatewayFront(t, { ops: [KEEPING], providers: { openai: provider.url } });
  assert.equal((await postJson(`${base}/gw/openai/chat/completions`, TEST_CHAT)).status, 404);
  assert.equal((await ask(base)).status, "MISS");
  assert.equal((await ask(base)).status, "HIT");
  for (let i = 0; i < 2; i++) assert.equal((await ask(base, {}, { purpose: "x" }, "/gw/openai/files")).status, "MISS");
});

test("concurrent equal requests make one provider request, and all get its response", async (t) => {
  const provider = await testProvider(t, (res) => void setTimeout(() => answerChat(res, "once"), 60));
  const { base, rows } = await gatewayFront(t, { ops: [KEEPING], providers: { openai: provider.url } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(base)));
  assert.equal(provider.seen.length, 1);
  assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal(rows.filter(({ cached }) => !cached).length, 1);
});

test("a client that disconnects does not cancel the shared response of the others", async (t) => {
  let answerFirst: (() => void) | undefined;
  const provider = await testProvider(t, (res) => {
    if (answerFirst !== undefined) return answerChat(res, "there");
    answerFirst = () => answerChat(res, "there");
  });
  const { base } = await gatewayFront(t, { ops: [KEEPING], providers: { openai: provider.url } });
  const leaving = new AbortController();
  const headers = { "content-type": "application/json", authorization: "Bearer provider-key" };
  const left = fetch(`${base}/gw/openai/chat/completions`, {
    method: "POST",
    headers,
    body: JSON.stringify(TEST_CHAT),
    signal: leaving.signal,
  });
  await eventually(() => answerFirst !== undefined);
  const other = ask(base);
  await settled(20);
  leaving.abort();
  await assert.rejects(left);
  // If the other request does not wait for the first one, it sends its own one to the provider.
  answerFirst?.();
  assert.match((await other).text, /there/);
});

test("an update of the gateway invalidates its cache, if the gateway is set so", async (t) => {
  const { base, replica } = await stage(t);
  assert.equal((await ask(base)).status, "MISS");
  replica.apply([gatewayOp("gw", { cache: { ttl_seconds: 60 }, cache_epoch: "2026-01-01T00:00:01Z" })]);
  assert.equal((await ask(base)).status, "MISS");
  assert.equal((await ask(base)).status, "HIT");
  replica.apply([gatewayOp("gw", { cache: { ttl_seconds: 60 }, cache_epoch: "2026-01-01T00:00:02Z" })]);
  assert.equal((await ask(base)).status, "MISS");
});

test("memory stays within its limit, and the oldest responses are evicted first", async (t) => {
  const { base, metric } = await stage(t, { limits: { cacheMemoryBytesMax: 8192 } });
  for (let i = 0; i < 40; i++) await ask(base, {}, { ...TEST_CHAT, seed: i });
  assert.ok(metric("selvedge_gateway_cache_bytes") <= 8192);
  assert.equal((await ask(base, {}, { ...TEST_CHAT, seed: 39 })).status, "HIT");
  assert.equal((await ask(base, {}, { ...TEST_CHAT, seed: 0 })).status, "MISS");
});

test("responses on disk survive a restart, and a truncated file is treated as missing", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-answers-"));
  t.after(() => removeDirectory(directory));
  const config = { cacheDisk: { directory, bytesMax: 1_000_000 } };
  const files = (): string[] => readdirSync(directory).filter((name) => !name.endsWith(".tmp"));
  const provider = await testProvider(t, (res, _seen, number) => answerChat(res, `answer ${number}`));
  const start = async (): Promise<string> =>
    (
      await gatewayFront(t, {
        ops: [KEEPING],
        providers: { openai: provider.url },
        config,
        deps: { sealer: createSealer(Buffer.alloc(32, 7)) },
      })
    ).base;
  const first = await start();
  const answer = await ask(first);
  await ask(first, {}, { ...TEST_CHAT, seed: 1 });
  await eventually(() => files().length === 2);
  for (const name of files()) assert.ok(!readFileSync(join(directory, name), "latin1").includes("choices"), "what is on disk is sealed");
  assert.deepEqual(await ask(await start()), { status: "HIT", text: answer.text });
  assert.equal(provider.seen.length, 2);
  for (const name of files()) {
    const path = join(directory, name);
    writeFileSync(path, readFileSync(path).subarray(0, -3));
  }
  const third = await start();
  assert.equal((await ask(third)).status, "MISS");
  assert.equal((await ask(third)).status, "HIT");
  assert.equal(provider.seen.length, 3);
});
