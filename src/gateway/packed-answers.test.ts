import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type GatewayFront, gatewayFront, gatewayOp, postJson, TEST_CHAT, testProvider } from "../../test/support/gateway-front.ts";

const USAGE = { prompt_tokens: 11, completion_tokens: 7 };
const ANSWER = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "hello" } }], usage: USAGE });
const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const BEGINNING = event({ choices: [{ index: 0, delta: { content: "hello" }, finish_reason: null }] });
const STREAM = `${BEGINNING}${event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${event({ choices: [], usage: USAGE })}data: [DONE]\n\n`;

/** By content-encoding; some servers send `deflate` without the header of zlib, and some list several codings. */
const PACKERS: readonly (readonly [coding: string, name: string, pack: (text: string) => Buffer])[] = [
  ["gzip", "gzip", gzipSync],
  ["deflate", "deflate", deflateSync],
  ["deflate", "headless deflate", deflateRawSync],
  ["br", "br", brotliCompressSync],
  ["zstd", "zstd", zstdCompressSync],
  ["GZIP, br", "twice packed", (text) => brotliCompressSync(gzipSync(text))],
  ["identity, gzip", "identity and gzip", gzipSync],
  ["br, deflate", "br and deflate", (text) => deflateSync(brotliCompressSync(text))],
];

/** A provider that compresses although it was not asked to, and sends the first `share` of the bytes. */
async function packing(
  t: TestContext,
  text: string,
  type: string,
  coding: string,
  pack: (text: string) => Buffer,
  share = 1,
): Promise<GatewayFront> {
  const provider = await testProvider(t, (res) => {
    const packed = pack(text);
    const sent = packed.subarray(0, Math.floor(packed.length * share));
    res.writeHead(200, { "content-type": type, "content-encoding": coding, ...(share < 1 ? {} : { "content-length": packed.length }) });
    for (let at = 0; at < sent.length; at += 50) res.write(sent.subarray(at, at + 50));
    res.end();
  });
  return gatewayFront(t, {
    providers: { openai: provider.url },
    ops: [gatewayOp("gw"), gatewayOp("keeping", { cache: { ttl_seconds: 60 } })],
  });
}

const ask = (base: string, body: object = TEST_CHAT, gateway = "gw"): Promise<Response> =>
  postJson(`${base}/${gateway}/openai/chat/completions`, body);

for (const [coding, name, pack] of PACKERS) {
  test(`a ${name} response is decompressed and counted`, async (t) => {
    const { base, rows } = await packing(t, ANSWER, "application/json", coding, pack);
    const answer = await ask(base);
    assert.deepEqual([answer.headers.get("content-encoding"), await answer.text()], [null, ANSWER]);
    const [row] = rows;
    assert.deepEqual([row?.tokens_in, row?.tokens_out, row?.success], [11, 7, true]);
  });

  test(`a truncated ${name} response does not look complete, however cleanly it ends`, async (t) => {
    const { base, rows } = await packing(t, ANSWER.repeat(50), "application/json", coding, pack, 0.7);
    await assert.rejects(ask(base).then((answer) => (answer.status >= 500 ? Promise.reject(new Error("refused")) : answer.text())));
    assert.deepEqual(
      rows.map(({ success }) => success),
      [false],
    );
  });
}

test("a compressed stream is counted and checked for its end like an uncompressed one", async (t) => {
  const body = { ...TEST_CHAT, stream: true };
  const whole = await packing(t, STREAM, "text/event-stream", "gzip", gzipSync);
  const text = await (await ask(whole.base, body)).text();
  assert.match(text, /hello.*\[DONE\]/s);
  assert.ok(!text.includes("prompt_tokens"), "counts that nobody asked for");
  assert.deepEqual([whole.rows[0]?.tokens_in, whole.rows[0]?.tokens_out], [11, 7]);

  const cut = await packing(t, BEGINNING, "text/event-stream", "gzip", gzipSync);
  await assert.rejects((await ask(cut.base, body)).text());
  assert.equal(cut.rows[0]?.success, false);

  const flushed = (content: string): Buffer => gzipSync(content, { finishFlush: constants.Z_SYNC_FLUSH });
  const unfinished = await packing(t, BEGINNING, "text/event-stream", "gzip", flushed);
  await assert.rejects((await ask(unfinished.base, body)).text());
  assert.equal(unfinished.rows[0]?.success, false);
});

test("a compressed response is cached and served uncompressed, and one with an unknown encoding passes unchanged", async (t) => {
  const { base } = await packing(t, ANSWER, "application/json", "gzip", gzipSync);
  for (const status of ["MISS", "HIT"]) {
    const answer = await ask(base, TEST_CHAT, "keeping");
    assert.deepEqual([await answer.text(), answer.headers.get("svc-aig-cache-status")], [ANSWER, status]);
  }
  for (const coding of ["exi", "exi, identity", "identity, identity, identity, identity"]) {
    const other = await packing(t, ANSWER, "application/json", coding, Buffer.from);
    const answer = await ask(other.base);
    assert.deepEqual([answer.headers.get("content-encoding"), await answer.text()], [coding, ANSWER]);
  }
});

test("a long compressed response arrives completely", async (t) => {
  const long = JSON.stringify({ text: "x".repeat(64 * 1024 * 1024) });
  const { base } = await packing(t, long, "application/json", "gzip", gzipSync);
  const answer = await ask(base);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length;
  assert.equal(bytes, long.length);
});
