import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { PLAIN_GATEWAY } from "../support/plain-gateway.ts";
import { api, startSelvedge } from "../support/selvedge.ts";

/** A server on loopback otherwise allows these targets, because all of them are on this machine. */
test("webhooks, origins, providers and primaries of tenants cannot reach the API or the operations listener, but other ports", async (t) => {
  const selvedge = await startSelvedge({ args: [] });
  t.after(() => selvedge.stop());
  const { api: base, http: edge, ops, gateway, token = "", account_id: account } = selvedge.ready;
  const call = async (method: string, path: string, body?: object): Promise<{ status: number; body: string; id: string }> => {
    const { status, body: envelope } = await api(selvedge, token, method, path, body);
    return { status, body: JSON.stringify(envelope), id: envelope.result?.id };
  };
  const zone = await call("POST", "/zones", { name: "operator.example", account: { id: account } });
  const made = await call("POST", `/accounts/${account}/ai-gateway/gateways`, { ...PLAIN_GATEWAY, id: "own" });
  assert.equal(made.status, 200, made.body);
  const other = http.createServer((_request, response) => response.end("another port")).listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const record = await call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "p", content: "127.0.0.1", proxied: true });
  assert.equal(record.status, 200, record.body);

  const visit = async (port: number): Promise<string> => {
    const rule = { expression: "true", action: "route", action_parameters: { origin: { port }, host_header: "localhost" } };
    const put = await call("PUT", `/zones/${zone.id}/rulesets/phases/http_request_origin/entrypoint`, { rules: [rule] });
    assert.equal(put.status, 200, put.body);
    const asked = http.get(`${edge}/metrics`, { headers: { host: "p.operator.example" } });
    const [answer] = (await once(asked, "response")) as [http.IncomingMessage];
    return `${answer.statusCode} ${await text(answer)}`;
  };
  const ask = async (origin: string): Promise<number> => {
    const slug = `p${new URL(origin).port}`;
    const provider = { name: slug, slug, base_url: origin, enable: true };
    const made = await call("POST", `/accounts/${account}/ai-gateway/custom-providers`, provider);
    if (made.status !== 200) return made.status;
    return (await fetch(`${gateway}/v1/${account}/own/custom-${slug}/metrics`)).status;
  };

  /** Why a primary at the port was not asked. A connection would be told apart by its silence. */
  const fetchZone = async (host: string, port: number): Promise<string> => {
    const name = `from-${host.replace(/\W/g, "-")}-${port}.example`;
    const peer = await call("POST", `/accounts/${account}/secondary_dns/peers`, { name });
    await call("PUT", `/accounts/${account}/secondary_dns/peers/${peer.id}`, { name, ip: host, port });
    const secondary = await call("POST", "/zones", { name, type: "secondary", account: { id: account } });
    const path = `/zones/${secondary.id}/secondary_dns`;
    const incoming = await call("POST", `${path}/incoming`, { name, peers: [peer.id] });
    assert.equal(incoming.status, 200, incoming.body);
    await call("POST", `${path}/force_axfr`, {});
    for (;;) {
      const { body } = await call("GET", `${path}/incoming`);
      const error = /"last_error":"([^"]+)"/.exec(body)?.[1];
      if (error !== undefined) return error;
      await setTimeout(20);
    }
  };

  for (const listener of [base, ops]) {
    const { origin, port } = new URL(listener);
    const webhook = { name: "x", url: `${origin}/metrics` };
    const made = await call("POST", `/accounts/${account}/alerting/v3/destinations/webhooks`, webhook);
    assert.deepEqual([made.status, /sends no requests/.test(made.body)], [400, true], made.body);
    assert.match(await visit(Number(port)), /^403 /);
    assert.equal(await ask(origin), 400, "a provider");
    for (const host of ["127.0.0.1", "::ffff:127.0.0.1", "127.0.0.2"])
      assert.match(await fetchZone(host, Number(port)), /this server sends no queries to its address/, host);
  }
  const { port } = other.address() as AddressInfo;
  assert.match(await visit(port), /^200 another port/);
  assert.equal(await ask(`http://127.0.0.1:${port}`), 200);
  assert.match(await fetchZone("127.0.0.1", port), /it sent no DNS response/);
});
