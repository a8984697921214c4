import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { RequestRow } from "#events/rows/rows.ts";
import { exchangeRaw, rawClient, rawOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually, settled } from "../../test/support/eventually.ts";
import { fetchOver, startSecureEdge } from "../../test/support/secure-edge.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";

/** The origin's responses by path. */
const ANSWERS: Readonly<Record<string, string>> = {
  "/page": "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\nContent-Length: 2\r\n\r\nok",
  "/cached.css": "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok",
  "/half": "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nonly this",
  "/garbage": "what is this\r\n\r\n",
  "/upgrade": "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
};
const SILENT = "/silent";

let origin: TestOrigin;
let edge: TestEdge;
before(async () => {
  origin = await rawOrigin((socket) => {
    socket.on("data", (bytes) => {
      const path = bytes.toString("latin1").split(/[ ?]/)[1] ?? "";
      if (path.startsWith(SILENT)) return;
      socket.write(ANSWERS[path] ?? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
      if (path === "/half") socket.end();
    });
    socket.on("end", () => socket.end());
  });
  const rules = [
    { action: "block", expression: 'http.request.uri.path eq "/blocked"', description: "stop" },
    { action: "log", expression: 'http.request.uri.path eq "/watched"', description: "look" },
  ];
  const ops = [
    ...siteOps(origin.port),
    rulesetOp("waf", "zone", "zone", "http_request_firewall_custom", rules),
    zoneOp("dead", "dead.example"),
    recordOp("dead-www", "dead", "www.dead.example", "A", "127.0.0.1"),
    rulesetOp("dead-route", "zone", "dead", "http_request_origin", [
      { action: "route", expression: "true", action_parameters: { origin: { port: 1 } } },
    ]),
  ];
  edge = await startEdge(ops, {}, { requestBodyBytesMax: 100, responseTimeoutMs: 2_000, headTimeoutMs: 2_000 });
});
after(async () => {
  await edge.close();
  origin.close();
});
beforeEach(() => {
  edge.requests.length = 0;
  edge.security.length = 0;
});

const request = (path: string, fields = "", host = "www.example.com"): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: test/1\r\n${fields}\r\n`;
const last = "Connection: close\r\n";

type Facts = Partial<Pick<RequestRow, "status" | "origin_status" | "edge_error" | "cache_status" | "content_type" | "path" | "zone_id">>;

/** Waits for the only remaining row, and checks that it has these facts. */
async function only(facts: Facts): Promise<RequestRow> {
  await eventually(() => edge.requests.length > 0);
  // A second row would come at once.
  await settled(20);
  assert.equal(edge.requests.length, 1, JSON.stringify(edge.requests));
  const [row] = edge.requests as [RequestRow];
  assert.deepEqual(Object.fromEntries(Object.keys(facts).map((name) => [name, row[name as keyof Facts]])), facts);
  return row;
}

test("a response of the origin makes a row", async () => {
  await exchangeRaw(edge.http, request("/page", last));
  const row = await only({ status: 200, origin_status: 200, content_type: "text/html", edge_error: "", zone_id: "zone" });
  assert.equal(row.http_version, "HTTP/1.1");
  assert.ok(row.bytes_in > 0 && row.bytes_out > 0);
});

test("a response from the cache makes a row", async () => {
  await exchangeRaw(edge.http, request("/cached.css", last));
  await only({ status: 200, origin_status: 200, cache_status: "MISS", content_type: "text/css" });
  edge.requests.length = 0;
  await exchangeRaw(edge.http, request("/cached.css", last));
  await only({ status: 200, origin_status: null, cache_status: "HIT", content_type: "text/css" });
});

test("a request that a rule blocks makes a row and an event", async () => {
  await exchangeRaw(edge.http, request("/blocked", last));
  const row = await only({ status: 403, origin_status: null, content_type: "text/html" });
  assert.notEqual(row.edge_error, "");
  assert.deepEqual(
    edge.security.map(({ action, status, ray_id, rule_description }) => [action, status, ray_id, rule_description]),
    [["block", 403, row.ray_id, "stop"]],
  );
});

test("an invalid request and a request for an unknown site make rows", async () => {
  await exchangeRaw(edge.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nHost: x\r\n\r\n");
  await only({ status: 400, edge_error: "400", zone_id: "" });
  edge.requests.length = 0;
  await exchangeRaw(edge.http, request("/", last, "nobody.example"));
  await only({ status: 530, origin_status: null, zone_id: "" });
});

test("a body that is too large makes a row", async () => {
  await exchangeRaw(edge.http, `POST /page HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 101\r\n\r\n${"x".repeat(101)}`);
  await only({ status: 413, edge_error: "413", zone_id: "" });
});

test("an origin that is unreachable, silent, invalid or cut off makes a row", async () => {
  await exchangeRaw(edge.http, request("/", last, "www.dead.example"));
  await only({ status: 521, edge_error: "521", origin_status: null, zone_id: "dead" });
  edge.requests.length = 0;
  await exchangeRaw(edge.http, request(SILENT, last));
  await only({ status: 524, edge_error: "524", origin_status: null });
  edge.requests.length = 0;
  await exchangeRaw(edge.http, request("/garbage", last));
  await only({ status: 520, edge_error: "520", origin_status: null });
  edge.requests.length = 0;
  await exchangeRaw(edge.http, request("/half", last));
  await only({ status: 200, origin_status: 200, content_type: "text/plain" });
});

test("a client that disconnects before the response or during its request makes a row with status 499", async () => {
  const early = rawClient(edge.http);
  early.send(request(SILENT));
  await settled();
  early.socket.destroy();
  await only({ status: 499, origin_status: null, path: SILENT });
  edge.requests.length = 0;
  const amid = rawClient(edge.http);
  amid.send("POST /page HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 90\r\n\r\nhalf");
  await settled();
  amid.socket.destroy();
  await eventually(() => edge.requests.length > 0);
  assert.equal(edge.requests.length, 1);
});

test("a request head that does not end in time makes a row", async () => {
  const slow = rawClient(edge.http);
  slow.send("GET / HTTP/1.1\r\nHost: www.exam");
  await slow.closed();
  await only({ status: 408, edge_error: "408" });
});

test("an upgraded connection makes a row", async () => {
  const client = rawClient(edge.http);
  client.send(request("/upgrade", "Connection: upgrade\r\nUpgrade: x\r\n"));
  await client.until(/101 Switching/);
  client.socket.destroy();
  await only({ status: 101, origin_status: 101 });
});

test("no row has credentials of a request", async () => {
  const fields =
    "Authorization: Bearer planted-1\r\nCookie: session=planted-2\r\nProxy-Authorization: planted-3\r\nX-Api-Key: planted-4\r\n";
  await exchangeRaw(edge.http, request("/watched?page=2&access_token=planted-5", fields + last));
  const row = await only({ status: 404 });
  assert.equal(row.query, "page=2&access_token=[removed]");
  assert.equal(edge.security.length, 1);
  assert.ok(!JSON.stringify([edge.requests, edge.security]).includes("planted"));
});

test("each unfinished request makes a row when the edge closes", async () => {
  const ending = await startEdge(siteOps(origin.port));
  const client = rawClient(ending.http);
  client.send(request(SILENT));
  await settled();
  await ending.close(0);
  assert.deepEqual(
    ending.requests.map(({ path }) => path),
    [SILENT],
  );
});

test("HTTP/2: responses, refusals and reset streams make rows", async (t) => {
  const secure = await startSecureEdge(origin.port);
  t.after(() => secure.close());
  const session = secure.session();
  await fetchOver(session, { ":path": "/page?code=planted" });
  await eventually(() => secure.requests.length === 1);
  const [answered] = secure.requests;
  assert.deepEqual(
    [answered?.status, answered?.http_version, answered?.tls_version, answered?.content_type, answered?.query],
    [200, "HTTP/2", "TLSv1.3", "text/html", "code=[removed]"],
  );
  await fetchOver(session, { ":path": "/", ":authority": "nobody.example" });
  await eventually(() => secure.requests.length === 2);
  const stream = session.request({ ":path": SILENT, ":authority": "www.example.com" });
  stream.on("error", () => undefined);
  await settled(100);
  stream.close(8);
  await eventually(() => secure.requests.length === 3);
  assert.deepEqual([secure.requests[2]?.status, secure.requests[2]?.path], [499, SILENT]);
  const last = session.request({ ":path": SILENT, ":authority": "www.example.com" });
  last.on("error", () => undefined);
  await settled(100);
  session.destroy();
  await eventually(() => secure.requests.length === 4);
  assert.equal(secure.requests[3]?.status, 499);
});
