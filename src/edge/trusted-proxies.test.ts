import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { TrustedProxies } from "#kernel/net/client-addresses.ts";
import { fetchOver, type SecureEdge, startSecureEdge } from "../../test/support/secure-edge.ts";
import { exchangeRaw, httpOrigin, rawClient, TLS_WAYS } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import type { EdgeLimits } from "#edge/config.ts";

const request = (...fields: readonly string[]): string =>
  ["GET / HTTP/1.1", "Host: www.example.com", "Connection: close", ...fields, "", ""].join("\r\n");

/** An edge behind proxies, in front of an origin that answers with the addresses it is told. */
async function stage(
  t: TestContext,
  trustedProxies: TrustedProxies,
  limits: Partial<EdgeLimits> = {},
  socketCalls = TLS_WAYS[0]?.[1] ?? null,
): Promise<SecureEdge> {
  const origin = await httpOrigin((req, res) => {
    const { "x-forwarded-for": forwarded, "svc-connecting-ip": connecting, "x-real-ip": real = "-", forwarded: word = "-" } = req.headers;
    res.end(`told ${String(forwarded)} ${String(connecting)} ${String(real)} ${word}`);
  });
  const edge = await startSecureEdge(origin.port, limits, { trustedProxies, socketCalls });
  t.after(async () => {
    await edge.close();
    origin.close();
    assert.deepEqual(edge.errors, []);
  });
  return edge;
}

const LOOPBACK: TrustedProxies = { networks: ["127.0.0.0/8", "10.0.0.0/8"], field: "x-forwarded-for" };

for (const [way, socketCalls] of TLS_WAYS) {
  test(`behind a trusted proxy, rules, rows and origins see the client's address, over HTTP/1.1 and HTTP/2 (${way})`, async (t) => {
    const edge = await stage(t, LOOPBACK, {}, socketCalls);
    const fields = { "x-forwarded-for": "6.6.6.6, 192.0.2.7:4711, 10.0.0.3", "x-real-ip": "6.6.6.6", forwarded: "for=6.6.6.6" };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    assert.match(await exchangeRaw(edge.http, request(...lines)), /told 192\.0\.2\.7 192\.0\.2\.7 - -$/);
    const session = edge.session();
    assert.equal((await fetchOver(session, fields)).body, "told 192.0.2.7 192.0.2.7 - -");
    // The next visitor of the same connection is another one, or the proxy itself.
    assert.equal((await fetchOver(session, { "x-forwarded-for": "2001:DB8::7" })).body, "told 2001:db8::7 2001:db8::7 - -");
    assert.equal((await fetchOver(session, {})).body, "told 127.0.0.1 127.0.0.1 - -");
    assert.deepEqual(
      edge.requests.map((row) => row.client_ip),
      ["192.0.2.7", "192.0.2.7", "2001:db8::7", "127.0.0.1"],
    );
    const blocks = { action: "block", expression: "ip.src in {192.0.2.0/24} and not cf.edge.client_port gt 0" };
    edge.replica.apply([rulesetOp("r", "zone", "zone", "http_request_firewall_custom", [blocks])]);
    assert.match(await exchangeRaw(edge.http, request(...lines)), /^HTTP\/1\.1 403 /);
    assert.match(await exchangeRaw(edge.http, request("X-Forwarded-For: 192.0.3.7")), /^HTTP\/1\.1 200 /);
    assert.equal(edge.security[0]?.client_ip, "192.0.2.7");
  });
}

test("the edge ignores the client address in a header from an untrusted peer", async (t) => {
  const edge = await stage(t, { networks: ["10.0.0.0/8"], field: "x-forwarded-for" });
  assert.match(await exchangeRaw(edge.http, request("X-Forwarded-For: 192.0.2.7")), /told 127\.0\.0\.1 127\.0\.0\.1 - -$/);
});

test("each client behind one proxy connection has its own rate limit", async (t) => {
  const edge = await stage(t, LOOPBACK);
  const ratelimit = { characteristics: ["ip.src", "cf.colo.id"], period: 60, requests_per_period: 1, mitigation_timeout: 60 };
  edge.replica.apply([rulesetOp("r", "zone", "zone", "http_ratelimit", [{ action: "block", expression: "true", ratelimit }])]);
  const session = edge.session();
  const statuses: number[] = [];
  for (const visitor of ["192.0.2.7", "192.0.2.7", "192.0.2.8", "6.6.6.6, 192.0.2.7"])
    statuses.push((await fetchOver(session, { "x-forwarded-for": visitor })).status);
  assert.deepEqual(statuses, [200, 429, 200, 429]);
});

test("the limit of connections per address does not apply to a trusted proxy, but to all others", async (t) => {
  for (const [networks, second, makesRoom] of [
    [["127.0.0.1"], /told 192\.0\.2\.8/, false],
    [["10.0.0.0/8"], /told 127\.0\.0\.1/, true],
  ] as const) {
    const edge = await stage(t, { networks, field: "x-forwarded-for" }, { connectionsPerAddressMax: 1 });
    const first = rawClient(edge.http);
    first.send(request("X-Forwarded-For: 192.0.2.7").replace("close", "keep-alive"));
    await first.until(/told/);
    assert.match(await exchangeRaw(edge.http, request("X-Forwarded-For: 192.0.2.8")), second);
    if (makesRoom) await first.closed();
    else {
      first.send(request("X-Forwarded-For: 192.0.2.7"));
      assert.match(await first.closed(), /told[^]*told/);
    }
  }
});

test("the edge reads the configured client address header, and no other", async (t) => {
  const written = {
    "x-real-ip": "192.0.2.1",
    "cf-connecting-ip": "192.0.2.2",
    forwarded: 'for="192.0.2.3:80"',
    "x-forwarded-for": "192.0.2.4",
  };
  for (const [field, client] of [
    ["x-real-ip", "192.0.2.1"],
    ["cf-connecting-ip", "192.0.2.2"],
    ["forwarded", "192.0.2.3"],
    ["x-forwarded-for", "192.0.2.4"],
  ] as const) {
    const edge = await stage(t, { networks: ["127.0.0.1"], field });
    const lines = Object.entries(written).map(([name, value]) => `${name}: ${value}`);
    assert.match(await exchangeRaw(edge.http, request(...lines)), new RegExp(`told ${client} ${client} - -$`));
  }
});
