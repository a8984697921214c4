import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { exchangeRaw, httpOrigin, rawOrigin, routeOp, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;

before(async () => {
  origin = await httpOrigin((req, res) => {
    res.setHeader("content-type", req.url === "/image" ? "image/png" : "Text/HTML; charset=utf-8");
    res.write("<p>4111 1111 ");
    res.end(`1111 1111</p>${req.headers.host}`);
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const get = (path: string, host = "www.example.com", more = "") =>
  exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`);
const firewall = (rules: Parameters<typeof rulesetOp>[4]) => rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", rules);

test("a block rule answers 403 and makes an event, and the origin gets no request", async () => {
  edge.replica.apply([
    firewall([
      { action: "log", expression: "true", description: "all" },
      { action: "block", expression: 'http.request.uri.path eq "/admin"', description: "no <admin>" },
    ]),
  ]);
  const blocked = await get("/admin", "www.example.com", "User-Agent: test/2\r\n");
  assert.match(blocked, /^HTTP\/1\.1 403 [^]*Error 1020/);
  await eventually(() => edge.security.length === 2);
  assert.deepEqual(
    edge.security.map((event) => [event.action, event.rule_id, event.ruleset_id, event.status, event.phase, event.rule_description]),
    [
      ["log", "fw-1", "fw", 403, "http_request_firewall_custom", "all"],
      ["block", "fw-2", "fw", 403, "http_request_firewall_custom", "no <admin>"],
    ],
  );
  assert.equal(edge.security[0]!.ray_id, edge.requests.at(-1)!.ray_id);
  assert.equal(edge.requests.at(-1)!.origin_status, null);
  assert.match(await get("/open"), /^HTTP\/1\.1 200/);
  await eventually(() => edge.security.length === 3);
  assert.equal(edge.security[2]!.status, 200);
});

test("a block rule can set its response", async () => {
  edge.replica.apply([
    firewall([
      {
        action: "block",
        expression: "true",
        action_parameters: { response: { status_code: 451, content: '{"no":"é"}', content_type: "application/json" } },
      },
    ]),
  ]);
  const blocked = await get("/");
  assert.match(blocked, /^HTTP\/1\.1 451 [^]*Content-Type: application\/json\r\nContent-Length: 11\r\n/);
  edge.replica.apply([{ kind: "ruleset", id: "fw", value: null }]);
});

test("after a block page, a keep-alive connection serves the next request", async () => {
  edge.replica.apply([firewall([{ action: "block", expression: 'http.request.uri.path eq "/x"' }])]);
  const both = await exchangeRaw(
    edge.http,
    "GET /x HTTP/1.1\r\nHost: www.example.com\r\nAccept: application/json, */*;q=0.1\r\n\r\nGET /y HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n",
  );
  assert.match(both, /^HTTP\/1\.1 403 [^]*"code":1020[^]*HTTP\/1\.1 200 OK/);
  edge.replica.apply([{ kind: "ruleset", id: "fw", value: null }]);
});

test("an origin rule sets port, host and Host header", async () => {
  edge.replica.apply([
    zoneOp("own", "origin.example"),
    recordOp("o1", "own", "a.origin.example", "CNAME", "b.origin.example", false),
    recordOp("o2", "own", "b.origin.example", "A", "127.0.0.1", false),
    recordOp("dead", "zone", "rule.example.com", "A", "127.0.0.9"),
    rulesetOp("route", "zone", "zone", "http_request_origin", [
      { action: "route", expression: "true", action_parameters: { origin: { port: origin.port } } },
      {
        action: "route",
        expression: 'http.host eq "rule.example.com"',
        action_parameters: { origin: { host: "a.origin.example" }, host_header: "inside.example" },
      },
    ]),
  ]);
  assert.match(await get("/", "rule.example.com"), /<\/p>inside\.example/);
  assert.match(await get("/"), /<\/p>www\.example\.com/);
  edge.replica.apply([routeOp(origin.port)]);
});

test("the edge follows aliases through its own zones, and answers 1016 for an alias without a target", async () => {
  edge.replica.apply([
    recordOp("alias", "zone", "alias.example.com", "CNAME", "www.example.com"),
    recordOp("outside", "zone", "outside.example.com", "CNAME", "localhost"),
    recordOp("circle", "zone", "circle.example.com", "CNAME", "circle.example.com"),
    recordOp("dangling", "zone", "dangling.example.com", "CNAME", "missing.example.com"),
    recordOp("unknown", "zone", "unknown.example.com", "CNAME", "nothing.invalid"),
    recordOp("plain", "zone", "plain.example.com", "A", "127.0.0.1", false),
    recordOp("wild", "zone", "*.wild.example.com", "A", "127.0.0.1"),
    zoneOp("p", "paused.example", { paused: true }),
    recordOp("p1", "p", "paused.example", "A", "127.0.0.1"),
  ]);
  for (const host of ["alias.example.com", "outside.example.com", "any.wild.example.com", "WWW.Example.COM.", "www.example.com:8080"])
    assert.match(await get("/", host), /^HTTP\/1\.1 200 /, host);
  for (const host of [
    "circle.example.com",
    "dangling.example.com",
    "unknown.example.com",
    "plain.example.com",
    "nothing.example.com",
    "example.com",
    "elsewhere.example",
    "[::1]",
    "paused.example",
  ]) {
    assert.match(await get("/", host), /^HTTP\/1\.1 530 [^]*Error 1016/, host);
    const json = await get("/", host, "Accept: application/json\r\n");
    assert.match(json, /^HTTP\/1\.1 530 [^]*\r\nContent-Type: application\/json\r\n/);
    const { success, errors, result } = JSON.parse(json.slice(json.indexOf("\r\n\r\n"))) as {
      success: boolean;
      errors: { code: number }[];
      result: null;
    };
    assert.deepEqual([success, errors.map(({ code }) => code), result], [false, [1016], null]);
    await eventually(() => edge.requests.at(-1)?.status === 530);
    assert.equal(edge.requests.at(-1)!.origin_status, null);
  }
});

test("the edge refuses origin addresses that are link-local, and loopback ones that the operator does not allow, after resolution", async () => {
  edge.replica.apply([
    recordOp("metadata", "zone", "metadata.example.com", "A", "169.254.169.254"),
    recordOp("any", "zone", "any.example.com", "A", "0.0.0.0"),
  ]);
  for (const host of ["metadata.example.com", "any.example.com"])
    assert.match(await get("/", host), /^HTTP\/1\.1 403 [^]*Error 1000/, host);
  const open = await startEdge([...siteOps(origin.port), recordOp("l", "zone", "local.example.com", "CNAME", "localhost")], {
    host: "0.0.0.0",
  });
  const allowed = await startEdge(siteOps(origin.port), { host: "0.0.0.0", originAllow: ["127.0.0.0/8"] });
  const ask = (port: number, host: string) => exchangeRaw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  assert.match(await ask(open.http, "www.example.com"), /^HTTP\/1\.1 403 [^]*Error 1000/);
  assert.match(await ask(open.http, "local.example.com"), /^HTTP\/1\.1 403 [^]*Error 1000/);
  assert.match(await ask(allowed.http, "www.example.com"), /^HTTP\/1\.1 200/);
  await Promise.all([open.close(), allowed.close()]);
});

test("the edge refuses a request that it has forwarded to itself", async () => {
  assert.match(await get("/", "www.example.com", "CDN-Loop: other; v=1, SVC\r\n"), /^HTTP\/1\.1 508 /);
  const site = await startEdge(siteOps(1));
  site.replica.apply([routeOp(site.http)]);
  const text = await exchangeRaw(site.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  assert.match(text, /^HTTP\/1\.1 508 /);
  assert.equal(site.requests.length, 2);
  await site.close();
});

test("the detector gets the decoded body and the fields of its event, and the client gets the body unchanged", async () => {
  edge.replica.apply([
    rulesetOp("sdd", "zone", "zone", "http_response_firewall_managed", [
      {
        action: "execute",
        expression: 'http.request.uri.path ne "/quiet"',
        action_parameters: { id: SENSITIVE_DATA_RULESET_ID, version: "latest" },
      },
    ]),
  ]);
  assert.match(await get("/card?x=1"), /Transfer-Encoding: chunked[^]*\r\n<p>4111 1111 1111 1111<\/p>www\.example\.com\r\n/);
  assert.equal(edge.scanned.length, 1);
  const [scan] = edge.scanned;
  assert.equal(scan!.body, "<p>4111 1111 1111 1111</p>www.example.com");
  assert.equal(scan!.ended, true);
  assert.deepEqual(
    { ...scan!.subject, ray_id: "", at_ms: 0, enabled: "" },
    {
      ray_id: "",
      at_ms: 0,
      account_id: "account",
      zone_id: "zone",
      client_ip: "127.0.0.1",
      method: "GET",
      scheme: "http",
      host: "www.example.com",
      path: "/card",
      query: "x=1",
      user_agent: "",
      country: "",
      status: 200,
      content_type: "text/html",
      charset: "utf-8",
      content_encoding: "",
      cut: "none",
      ruleset_id: SENSITIVE_DATA_RULESET_ID,
      enabled: "",
      own: "",
      public_key: "",
      masked_sample: false,
      deployed_by: "sdd-1",
    },
  );
  await get("/quiet");
  await exchangeRaw(edge.http, "HEAD /card HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  assert.equal(edge.scanned.length, 1);
  edge.replica.apply([{ kind: "ruleset", id: "sdd", value: null }]);
});

test("the detector scans pages that the site's rules wrote, and not the edge's own pages", async () => {
  const raw = await rawOrigin((socket) => void socket.once("data", () => socket.end("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")));
  const block = (path: string, response?: object) => ({
    action: "block",
    expression: `http.request.uri.path eq "${path}"`,
    ...(response === undefined ? {} : { action_parameters: { response } }),
  });
  const site = await startEdge([
    ...siteOps(raw.port),
    rulesetOp("sdd", "zone", "zone", "http_response_firewall_managed", [
      { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } },
    ]),
    rulesetOp("blocks", "zone", "zone", "http_request_firewall_custom", [
      block("/chosen", { status_code: 418, content: '{"card":"4111 1111 1111 1111"}', content_type: "application/json" }),
      block("/plain"),
    ]),
    rulesetOp("errors", "zone", "zone", "http_custom_errors", [
      {
        action: "serve_error",
        expression: "http.response.code eq 404",
        action_parameters: { content: "<p>sorry", content_type: "text/html", status_code: 410 },
      },
    ]),
  ]);
  for (const request of ["GET /chosen", "HEAD /chosen", "GET /plain", "GET /missing"])
    await exchangeRaw(site.http, `${request} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`);
  assert.deepEqual(
    site.scanned.map(({ subject, body, ended }) => [subject.path, subject.status, subject.content_type, body, ended]),
    [
      ["/chosen", 418, "application/json", '{"card":"4111 1111 1111 1111"}', true],
      ["/missing", 410, "text/html", "<p>sorry", true],
    ],
  );
  await site.close();
  raw.close();
});

test("a response whose body has begun is scanned by a rule of the account as well", async () => {
  const raw = await rawOrigin(
    (socket) =>
      void socket.once("data", () =>
        socket.end("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: GZIP\r\n\r\nbytes"),
      ),
  );
  const execute = { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } };
  const site = await startEdge([
    ...siteOps(raw.port),
    rulesetOp("a", "account", "account", "http_response_firewall_managed", [execute]),
    rulesetOp("z", "zone", "zone", "http_response_firewall_managed", [execute]),
  ]);
  await exchangeRaw(site.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  assert.deepEqual(
    site.scanned.map((scan) => [scan.subject.deployed_by, scan.subject.content_encoding, scan.body, scan.ended]),
    [
      ["a-1", "gzip", "bytes", true],
      ["z-1", "gzip", "bytes", true],
    ],
  );
  await site.close();
  raw.close();
});
