import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { PROFILES } from "#rules/detectors/catalog/profiles.ts";
import { answerChat, gatewayFront, gatewayOp, TEST_CHAT, testProvider } from "../../test/support/gateway-front.ts";

const PLAIN = JSON.stringify(TEST_CHAT);
const PACKERS: readonly (readonly [coding: string, pack: (text: string) => Buffer])[] = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
  ["identity, gzip, BR", (text) => brotliCompressSync(gzipSync(text))],
];
const SECRET = "My card is 4012888888881881, and my number 078-05-1120.";

async function stage(t: TestContext) {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const dlp = [{ id: "p", action: "BLOCK" as const, check: ["REQUEST" as const], profiles: PROFILES.map(({ id }) => id) }];
  const front = await gatewayFront(t, {
    providers: { openai: provider.url },
    ops: [gatewayOp("gw"), gatewayOp("guarded", { dlp })],
    limits: { requestWholeBytesMax: 100_000 },
  });
  const send = async (path: string, coding: string, body: Buffer | string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${front.base}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer provider-key", "content-encoding": coding },
      body,
    });
    return { status: answer.status, text: await answer.text() };
  };
  return { send, seen: provider.seen, rows: front.rows };
}

test("compressed requests reach the provider as plain ones, by all routes, and their model is read", async (t) => {
  const { send, seen, rows } = await stage(t);
  const compat = JSON.stringify({ ...TEST_CHAT, model: `openai/${TEST_CHAT.model}` });
  const step = JSON.stringify([{ provider: "openai", endpoint: "chat/completions", headers: {}, query: TEST_CHAT }]);
  for (const [coding, pack] of PACKERS)
    for (const [path, body] of [
      ["gw/openai/chat/completions", PLAIN],
      ["gw/openai/responses", PLAIN],
      ["gw/compat/chat/completions", compat],
      ["gw", step],
    ] as const) {
      const { status, text } = await send(path, coding, pack(body));
      assert.equal(status, 200, `${coding} ${path}: ${text}`);
      const last = seen.at(-1);
      assert.deepEqual([JSON.parse(last?.body ?? ""), last?.headers["content-encoding"]], [TEST_CHAT, undefined]);
      assert.equal(rows.at(-1)?.model, TEST_CHAT.model);
    }
});

test("a compressed request is inspected, and one in an unknown coding is not sent past an inspection", async (t) => {
  const { send, seen } = await stage(t);
  const secret = JSON.stringify({ ...TEST_CHAT, messages: [{ role: "user", content: SECRET }] });
  const plain = await send("guarded/openai/responses", "identity", secret);
  assert.match(plain.text, /DLP policy/);
  for (const [coding, pack] of PACKERS) assert.deepEqual(await send("guarded/openai/responses", coding, pack(secret)), plain);
  assert.equal(seen.length, 0);
  for (const path of ["guarded/openai/responses", "gw/compat/chat/completions", "gw"]) {
    const { status, text } = await send(path, "exi", secret);
    assert.equal(status, 400);
    assert.match(text, /coding/);
  }
  assert.equal(seen.length, 0);
  assert.equal((await send("gw/openai/responses", "exi", secret)).status, 200);
  assert.deepEqual([seen[0]?.headers["content-encoding"], seen[0]?.body], ["exi", secret]);
});

test("a compressed request that is damaged is refused, and so is one that grows beyond the bound", async (t) => {
  const { send, seen } = await stage(t);
  for (const [coding, pack] of PACKERS) {
    const packed = pack(PLAIN);
    assert.equal((await send("gw/openai/responses", coding, packed.subarray(0, packed.length / 2))).status, 400, coding);
    assert.equal((await send("gw/openai/responses", coding, pack(" ".repeat(100_001)))).status, 413, coding);
  }
  assert.equal(seen.length, 0);
});

test("compressed requests of a client have together the memory of one that sends plain ones", async (t) => {
  const provider = await testProvider(t, (res) => answerChat(res, "hello"));
  const limits = { requestWholeBytesMax: 4_000_000, requestMemoryBytesMax: 8_000_000 };
  const { base, metric } = await gatewayFront(t, { providers: { openai: provider.url }, ops: [gatewayOp("gw")], limits });
  const bomb = gzipSync(JSON.stringify({ ...TEST_CHAT, user: " ".repeat(3_000_000) }));
  assert.ok(bomb.length < 8000);
  const send = async (): Promise<number> => {
    const headers = { "content-type": "application/json", authorization: "Bearer k", "content-encoding": "gzip" };
    return (await fetch(`${base}/gw/openai/chat/completions`, { method: "POST", headers, body: bomb })).status;
  };
  const before = process.memoryUsage().arrayBuffers;
  let most = before;
  const look = (): void => void (most = Math.max(most, process.memoryUsage().arrayBuffers));
  const looking = setInterval(look, 1);
  const statuses = await Promise.all(Array.from({ length: 80 }, send));
  clearInterval(looking);
  assert.ok(statuses.includes(503), "some find no room");
  assert.ok(statuses.every((status) => status === 200 || status === 503));
  const grown = most - before;
  assert.ok(grown < 80_000_000, `80 requests of 3 MB made the process grow by ${Math.round(grown / 1e6)} MB`);
  assert.equal(await send(), 200);
  assert.equal(metric("selvedge_gateway_buffered_request_bytes"), 0);
});
