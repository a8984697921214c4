import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;
/** The origin's last request. */
let asked: { url: string; headers: Readonly<Record<string, string | string[] | undefined>> } = { url: "", headers: {} };

before(async () => {
  origin = await httpOrigin((req, res) => {
    asked = { url: req.url ?? "", headers: req.headers };
    res.writeHead(200, { "X-Kind": "b" }).end("passed");
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const CUSTOM = "http_request_firewall_custom";
const LINES = "X-Test: One\r\nx-test: two\r\nCookie: a=1; b=2\r\nAccept-Language: de, en;q=0.5\r\n";
const get = (path: string): Promise<string> =>
  exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n${LINES}\r\n`);

test("rules see the request as the client sent it", async () => {
  const holding = [
    'http.request.version eq "HTTP/1.1" and not ssl',
    `cf.edge.server_port eq ${edge.http} and cf.edge.server_ip eq 127.0.0.1`,
    'cf.zone.plan eq "FREE" and cf.edge.client_port ge 1024 and cf.edge.client_port ne cf.edge.server_port',
    'any(http.request.headers.names[*] eq "X-Test") and any(http.request.headers.names[*] eq "x-test")',
    'any(http.request.headers["x-test"][*] eq "two")',
    'join(http.request.headers.values, ";") contains ";One;two;"',
    "http.request.timestamp.sec gt 1700000000 and http.request.timestamp.msec lt 1000",
    'http.request.cookies["b"][0] eq "2"',
    'http.request.accepted_languages[1] eq "en"',
    'http.request.uri.args["q"][1] eq "2" and http.request.uri.path.extension eq "html"',
    'len(cf.random_seed) eq 16 and ip.src eq 127.0.0.1 and http.request.full_uri eq "http://www.example.com/p.html?q=1&q=2"',
    'not any(http.request.headers["x-none"][*] eq "") and not cf.tls_version contains "TLS"',
  ];
  for (const expression of holding) {
    edge.replica.apply([rulesetOp("z", "zone", "zone", CUSTOM, [{ action: "block", expression }])]);
    assert.match(await get("/p.html?q=1&q=2"), /^HTTP\/1\.1 403 /, expression);
    edge.replica.apply([rulesetOp("z", "zone", "zone", CUSTOM, [{ action: "block", expression: `not (${expression})` }])]);
    assert.match(await get("/p.html?q=1&q=2"), /passed/, expression);
  }
  edge.replica.apply([{ kind: "ruleset", id: "z", value: null }]);
});

test("the edge finds the matching rule among many", async () => {
  const rules = Array.from({ length: 100 }, (_, i) => ({ action: "block", expression: `http.request.uri.path contains "/attack${i}/"` }));
  edge.replica.apply([rulesetOp("z", "zone", "zone", CUSTOM, rules)]);
  assert.match(await get("/a/attack77/b"), /^HTTP\/1\.1 403 /);
  assert.match(await get("/a/attack100/b"), /passed/);
  edge.replica.apply([{ kind: "ruleset", id: "z", value: null }]);
});

test("expressions compute addresses, headers and redirect targets", async () => {
  const expression = (text: string): object => ({ expression: text });
  edge.replica.apply([
    rulesetOp("t", "zone", "zone", "http_request_transform", [
      {
        action: "rewrite",
        expression: 'starts_with(http.request.uri.path, "/old/")',
        action_parameters: { uri: { path: expression('regex_replace(http.request.uri.path, "^/old/(.*)$", "/new/${1}")') } },
      },
    ]),
    rulesetOp("h", "zone", "zone", "http_request_late_transform", [
      {
        action: "rewrite",
        expression: "true",
        action_parameters: {
          headers: {
            "x-made": { operation: "set", ...expression('concat(http.request.headers["x-test"][1], "-", raw.http.request.uri.path)') },
            "x-hash": { operation: "set", ...expression('encode_base64(sha256("my-token"), "p")') },
            "x-visitor": { operation: "set", ...expression("ip.src") },
            "x-missing": { operation: "set", ...expression('http.request.headers["x-none"][0]') },
          },
        },
      },
    ]),
    rulesetOp("r", "zone", "zone", "http_request_dynamic_redirect", [
      {
        action: "redirect",
        expression: 'http.request.uri.path wildcard "/go/*"',
        action_parameters: {
          from_value: {
            target_url: expression('wildcard_replace(http.request.full_uri, "http://*/go/*", "https://${1}/gone/${2}")'),
            status_code: 301,
          },
        },
      },
    ]),
  ]);
  await get("/old/x?y=1");
  assert.equal(asked.url, "/new/x?y=1");
  assert.equal(asked.headers["x-made"], "two-/old/x");
  assert.equal(asked.headers["x-hash"], "/s5Q0ih/ckWupYGbdfle6L7ClaFPjvHnox8X8drp30Q=");
  assert.equal(asked.headers["x-visitor"], "127.0.0.1");
  assert.equal(asked.headers["x-missing"], undefined);
  assert.match(await get("/go/away"), /^HTTP\/1\.1 301 [^]*\r\nLocation: https:\/\/www\.example\.com\/gone\/away\r\n/);
});
