import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { httpOrigin, startEdge, siteOps, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { request } from "node:http";
import { zoneOp } from "#edge/testing/entries.ts";

const TOKEN = "token-of-a-challenge-0123456789";
const seen: string[] = [];
let edge: TestEdge;
let origin: TestOrigin;

before(async () => {
  origin = await httpOrigin((req, res) => {
    seen.push(req.url ?? "");
    res.end("the origin's own");
  });
  const entry = { host: "shop.customer.example", key_authorization: `${TOKEN}.thumbprint` };
  const own = { host: "www.example.com", key_authorization: "own.thumbprint" };
  edge = await startEdge([
    ...siteOps(origin.port),
    zoneOp("zone", "example.com", { edge: { always_use_https: true } }),
    { kind: "acme_challenge", id: TOKEN, value: entry },
    { kind: "acme_challenge", id: "own-token", value: own },
  ]);
});
after(async () => {
  await edge.close();
  origin.close();
});

const get = (host: string, path: string, method = "GET"): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: edge.http, path, method, headers: { host }, agent: false }, (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => (body += chunk.toString()));
      res.on("end", () => resolve({ status: res.statusCode ?? 0, body }));
    });
    asked.on("error", reject);
    asked.end();
  });

const path = (token: string): string => `/.well-known/acme-challenge/${token}`;

test("the edge answers an ACME challenge for its hostname over plain HTTP, also without a zone and with always_use_https", async () => {
  assert.deepEqual(await get("shop.customer.example", path(TOKEN)), { status: 200, body: `${TOKEN}.thumbprint` });
  assert.deepEqual(await get("SHOP.customer.example:80", path(TOKEN)), { status: 200, body: `${TOKEN}.thumbprint` });
  assert.deepEqual(await get("www.example.com", path("own-token")), { status: 200, body: "own.thumbprint" });
  assert.deepEqual(await get("shop.customer.example", path(TOKEN), "HEAD"), { status: 200, body: "" });
  assert.deepEqual(seen, []);
});

test("the edge sends challenge requests with another hostname or an unknown token on to the origin", async () => {
  assert.notEqual((await get("other.customer.example", path(TOKEN))).status, 200);
  assert.deepEqual(await get("www.example.com", path(TOKEN)), { status: 200, body: "the origin's own" });
  assert.deepEqual(await get("www.example.com", path("another")), { status: 200, body: "the origin's own" });
  assert.deepEqual(await get("www.example.com", path(`${TOKEN}/..`)), { status: 200, body: "the origin's own" });
  edge.replica.apply([{ kind: "acme_challenge", id: "own-token", value: null }]);
  assert.deepEqual(await get("www.example.com", path("own-token")), { status: 200, body: "the origin's own" });
});
