import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test, type TestContext } from "node:test";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";

const ROUNDS = 50;

/**
 * The promise is exact: once the API has answered, no plane gives a stale answer. So each change is asked for
 * right after its answer, and a single stale one fails. How long it took is printed, never judged.
 */
describe("an API change is visible in the next answer of each plane", () => {
  let selvedge: Selvedge;
  let zoneId: string;
  const origin = createServer((req, res) => res.end(req.url));

  const api = async (method: string, path: string, body?: object): Promise<any> => {
    const res = await fetch(selvedge.ready.api + path, {
      method,
      headers: { authorization: `Bearer ${selvedge.ready.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const envelope = (await res.json()) as { success: boolean; result: any; messages: unknown[] };
    assert.ok(envelope.success, JSON.stringify(envelope));
    assert.deepEqual(envelope.messages, [], "no plane is behind");
    return envelope.result;
  };

  before(async () => {
    await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
    selvedge = await startSelvedge({ env: { SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" } });
    const zone = await api("POST", "/zones", { name: "fresh.example", account: { id: selvedge.ready.account_id }, type: "full" });
    zoneId = zone.id;
    const port = (origin.address() as AddressInfo).port;
    await api("PUT", `/zones/${zoneId}/rulesets/phases/http_request_origin/entrypoint`, {
      rules: [{ action: "route", action_parameters: { origin: { port } }, expression: "true" }],
    });
  });

  after(async () => {
    await selvedge?.stop();
    origin.close();
  });

  test("nameserver", async (t) => {
    const resolver = new Resolver({ timeout: 20_000, tries: 1 });
    resolver.setServers([selvedge.ready.dns]);
    const record = await api("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "n", content: "192.0.2.1", ttl: 60 });
    await measure(t, async (round, begin) => {
      begin();
      const content = `192.0.2.${round + 2}`;
      await api("PATCH", `/zones/${zoneId}/dns_records/${record.id}`, { content });
      assert.deepEqual(await resolver.resolve4("n.fresh.example"), [content]);
    });
  });

  test("edge", async (t) => {
    await measure(t, async (round, begin) => {
      const host = `e${round}.fresh.example`;
      assert.equal(await statusThroughEdge(selvedge, host), 530, "not there yet");
      begin();
      await api("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: `e${round}`, content: "127.0.0.1", ttl: 1, proxied: true });
      assert.equal(await statusThroughEdge(selvedge, host), 200);
    });
  });

  test("gateway", async (t) => {
    const account = selvedge.ready.account_id;
    const gateway = {
      cache_invalidate_on_update: false,
      cache_ttl: null,
      collect_logs: false,
      rate_limiting_interval: null,
      rate_limiting_limit: null,
    };
    const ask = async (id: string): Promise<number> => {
      const res = await fetch(`${selvedge.ready.gateway}/v1/${account}/${id}/openai/models`);
      return ((await res.json()) as { error: { code: number }[] }).error[0]?.code ?? 0;
    };
    await measure(t, async (round, begin) => {
      const id = `g${round}`;
      assert.equal(await ask(id), 2001, "unknown gateway");
      begin();
      await api("POST", `/accounts/${account}/ai-gateway/gateways`, { id, authentication: true, ...gateway });
      assert.equal(await ask(id), 2009, "known, and asking for a token");
    });
  });
});

/** From the request of the change to the plane's new answer, in milliseconds. */
async function measure(t: TestContext, change: (round: number, begin: () => void) => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    let started = 0;
    await change(round, () => {
      started = performance.now();
    });
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(1);
  t.diagnostic(`change and answer: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, max ${at(1)} ms over ${ROUNDS} changes`);
}

function statusThroughEdge(selvedge: Selvedge, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(selvedge.ready.http, { headers: { host }, agent: false }, (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode));
    })
      .on("error", reject)
      .end();
  });
}
