import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { api, startSelvedge, type Selvedge } from "../support/selvedge.ts";
import { PATIENCE_MS } from "../support/eventually.ts";

const ROUNDS = 3;
const CLIENTS = 8;
const GATEWAY = {
  id: "gw",
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};

/**
 * kill -9 with requests in progress. The guarantee: a client with a complete answer, streamed or not, finds its row after
 * the restart, once. A request without a complete answer has one row or none.
 */
test(`kill -9: each answered gateway request has its row, once, over ${ROUNDS} rounds`, { timeout: 240_000 }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-gateway-kill-"));
  const provider = await startProvider();
  t.after(async () => {
    provider.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const start = (): Promise<Selvedge> =>
    startSelvedge({ dataDir, args: ["--provider", `openai=${provider.url}`], env: { SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" } });
  const answered: string[] = [];
  let token = "";
  for (let round = 0; round <= ROUNDS; round++) {
    const selvedge = await start();
    token ||= selvedge.ready.token ?? "";
    const path = `/accounts/${selvedge.ready.account_id}/ai-gateway/gateways`;
    if (round === 0) assert.equal((await api(selvedge, token, "POST", path, GATEWAY)).status, 200);
    const rows = await rowIds(selvedge, token, `${path}/gw/logs`, answered.length);
    assert.equal(new Set(rows).size, rows.length, "a request has two rows");
    const missing = answered.filter((id) => !rows.includes(id));
    assert.deepEqual(missing, [], `${missing.length} of ${answered.length} answered requests have no row`);
    if (round === ROUNDS) {
      assert.equal((await api(selvedge, token, "GET", `${path}/gw/logs/${answered.at(-1)}`)).body.result.success, true);
      await selvedge.stop();
    } else answered.push(...(await askUntilKilled(selvedge)));
  }
  t.diagnostic(`${answered.length} answered requests, 0 without a row`);
  assert.ok(answered.length > ROUNDS * CLIENTS);
});

/** Every second answer is a stream; they take up to 10 ms. */
async function startProvider(): Promise<{ readonly url: string; close(): void }> {
  let asked = 0;
  const server = createServer((req, res) => {
    req.resume().on("end", async () => {
      const n = asked++;
      await delay(n % 5);
      if (n % 2 === 0)
        return void res.writeHead(200, { "content-type": "application/json" }).end('{"usage":{"prompt_tokens":1,"completion_tokens":2}}');
      res.writeHead(200, { "content-type": "text/event-stream" });
      for (let i = 0; i < 3; i++) {
        res.write(`data: {"choices":[{"delta":{"content":"${i}"}}]}\n\n`);
        await delay(1);
      }
      res.end('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function askUntilKilled(selvedge: Selvedge): Promise<readonly string[]> {
  const answered: string[] = [];
  let isKilled = false;
  const url = `${selvedge.ready.gateway}/v1/${selvedge.ready.account_id}/gw/openai/chat/completions`;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isKilled) {
      try {
        const body = JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] });
        const res = await fetch(url, { method: "POST", headers: { "content-type": "application/json", authorization: "Bearer k" }, body });
        await res.text();
        assert.equal(res.status, 200);
        answered.push(res.headers.get("svc-aig-log-id") ?? "no id");
      } catch (error) {
        if (!isKilled) throw error;
      }
    }
  });
  while (answered.length < 10) await delay(5);
  await delay(150);
  isKilled = true;
  await selvedge.kill();
  await Promise.all(clients);
  return answered;
}

/** All of them, once there are as many as expected or a while has passed: rows are read from their segments after the start. */
async function rowIds(selvedge: Selvedge, token: string, path: string, expected: number): Promise<readonly string[]> {
  for (const started = performance.now(); ; await delay(100)) {
    const ids: string[] = [];
    for (let page = 1; ; page++) {
      const { body } = await api(selvedge, token, "GET", `${path}?per_page=50&page=${page}`);
      if (body.result.length === 0) break;
      ids.push(...body.result.map((row: { id: string }) => row.id));
    }
    if (ids.length >= expected || performance.now() - started > PATIENCE_MS) return ids;
  }
}
