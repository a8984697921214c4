import assert from "node:assert/strict";
import { test } from "node:test";
import { startSelvedge } from "../support/selvedge.ts";

/** What a server on loopback permits otherwise: everything here is on this machine. */
test("a tenant's webhook, provider and origin reach neither the API nor the operations listener of a server on loopback", async (t) => {
  const selvedge = await startSelvedge({ args: [] });
  t.after(() => selvedge.stop());
  const { api, gateway, http, ops, token = "" } = selvedge.ready;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${api}/client/v4${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const account = (await call("GET", "/accounts")).body.result[0].id;
  const zone = (await call("POST", "/zones", { name: "operator.example", account: { id: account } })).body.result.id;
  for (const listener of [api, ops]) {
    const { origin, port } = new URL(listener);
    const webhook = await call("POST", `/accounts/${account}/alerting/v3/destinations/webhooks`, { name: "x", url: `${origin}/metrics` });
    assert.equal(webhook.status, 400, JSON.stringify(webhook.body));
    assert.match(JSON.stringify(webhook.body.errors), /sends no requests/);

    const record = await call("POST", `/zones/${zone}/dns_records`, { type: "A", name: `p${port}`, content: "127.0.0.1", proxied: true });
    assert.equal(record.status, 200, JSON.stringify(record.body));
    const rules = await call("PUT", `/zones/${zone}/rulesets/phases/http_request_origin/entrypoint`, {
      rules: [{ expression: "true", action: "route", action_parameters: { origin: { port: Number(port) }, host_header: "localhost" } }],
    });
    void rules;
    const page = await fetch(`${http}/metrics`, { headers: { host: `p${port}.operator.example` } });
    assert.ok(page.status >= 400, String(page.status));
    assert.doesNotMatch(await page.text(), /selvedge_/);
  }
  void gateway;
});
