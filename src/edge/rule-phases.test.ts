import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;
/** The origin's last request. */
let asked: { url: string; headers: Readonly<Record<string, string | string[] | undefined>> } = { url: "", headers: {} };

before(async () => {
  origin = await httpOrigin((req, res) => {
    asked = { url: req.url ?? "", headers: req.headers };
    const status = Number(/\/status\/(\d+)/.exec(req.url ?? "")?.[1] ?? 200);
    res.writeHead(status, { "content-type": "text/plain", "x-powered-by": "origin", "set-cookie": ["a=1", "b=2"] });
    res.end(`origin says ${status}`);
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

type Rules = Parameters<typeof rulesetOp>[4];
const get = (path: string, more = "", method = "GET") =>
  exchangeRaw(edge.http, `${method} ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n${more}\r\n`);

/** Runs with rules of the zone, and of the account if given, and removes them afterwards. */
async function withRules(phase: string, rules: Rules, work: () => Promise<void>, account: Rules = []): Promise<void> {
  edge.replica.apply([rulesetOp("z", "zone", "zone", phase, rules)]);
  if (account.length > 0) edge.replica.apply([rulesetOp("a", "account", "account", phase, account)]);
  await work();
  edge.replica.apply([{ kind: "ruleset", id: "z", value: null }]);
  if (account.length > 0) edge.replica.apply([{ kind: "ruleset", id: "a", value: null }]);
}

const header = (name: string, operation: string, value?: string) => ({
  headers: { [name]: { operation, ...(value === undefined ? {} : { value }) } },
});

test("dynamic redirects: the first matching rule answers, and keeps the query if it says so", async () => {
  const to = (value: string, more: object = {}) => ({ from_value: { target_url: { value }, ...more } });
  const rules: Rules = [
    {
      action: "redirect",
      expression: 'http.request.uri.path eq "/old"',
      action_parameters: to("https://example.com/nü w", { status_code: 301, preserve_query_string: true }),
    },
    { action: "redirect", expression: 'http.request.uri.path contains "/old"', action_parameters: to("/else") },
  ];
  await withRules("http_request_dynamic_redirect", rules, async () => {
    assert.match(
      await get("/old?a=1&b=2"),
      /^HTTP\/1\.1 301 Moved Permanently\r\n[^]*Location: https:\/\/example\.com\/n%C3%BC%20w\?a=1&b=2\r\n/,
    );
    assert.match(await get("/older?a=1"), /^HTTP\/1\.1 302 Found\r\n[^]*Location: \/else\r\n/);
    assert.match(await get("/new"), /origin says 200/);
  });
});

test("URL transforms: the origin and rules of later phases get the new path and query, rules of the same phase do not", async () => {
  const rules: Rules = [
    { action: "rewrite", expression: 'http.request.uri.path eq "/a"', action_parameters: { uri: { path: { value: "/b c?" } } } },
    { action: "rewrite", expression: 'http.request.uri.path eq "/b%20c%3F"', action_parameters: { uri: { query: { value: "never=1" } } } },
    { action: "rewrite", expression: 'http.request.uri.query eq "drop"', action_parameters: { uri: { query: { value: "" } } } },
  ];
  await withRules("http_request_transform", rules, async () => {
    await get("/a?x=1");
    assert.equal(asked.url, "/b%20c%3F?x=1");
    await get("/a?drop");
    assert.equal(asked.url, "/b%20c%3F");
    await get("/c?x");
    assert.equal(asked.url, "/c?x");
    edge.replica.apply([
      rulesetOp("later", "zone", "zone", "http_request_firewall_custom", [
        { action: "block", expression: 'http.request.uri.path eq "/b%20c%3F"' },
      ]),
    ]);
    assert.match(await get("/a"), /^HTTP\/1\.1 403/);
    edge.replica.apply([{ kind: "ruleset", id: "later", value: null }]);
  });
});

test("request headers: rules set, add and remove fields, the account's first, and cannot change framing or the edge's own fields", async () => {
  const rules: Rules = [
    { action: "rewrite", expression: "true", action_parameters: header("X-Who", "set", "zone") },
    { action: "rewrite", expression: "true", action_parameters: header("X-More", "add", "b") },
    { action: "rewrite", expression: "true", action_parameters: header("User-Agent", "remove") },
    // A rule that an older version accepted still cannot set the edge's fields.
    { action: "rewrite", expression: "true", action_parameters: header("svc-connecting-ip", "set", "192.0.2.66") },
  ];
  const account: Rules = [
    { action: "rewrite", expression: "true", action_parameters: header("X-Who", "set", "account") },
    { action: "rewrite", expression: "true", action_parameters: header("X-Account", "set", "ü") },
  ];
  await withRules(
    "http_request_late_transform",
    rules,
    async () => {
      await get("/", "X-Who: visitor\r\nX-More: a\r\nUser-Agent: test\r\n");
      const { headers } = asked;
      assert.deepEqual([headers["x-who"], headers["x-more"], headers["user-agent"]], ["zone", "a, b", undefined]);
      assert.equal(Buffer.from(String(headers["x-account"]), "latin1").toString(), "ü");
      assert.equal(headers["svc-connecting-ip"], "127.0.0.1");
    },
    account,
  );
});

test("response headers: rules change the fields of origin responses and of the edge's own pages", async () => {
  const rules: Rules = [
    { action: "rewrite", expression: "true", action_parameters: header("X-Powered-By", "remove") },
    { action: "rewrite", expression: "http.response.code eq 200", action_parameters: header("Set-Cookie", "add", "c=3") },
    { action: "rewrite", expression: "true", action_parameters: header("X-Frame-Options", "set", "DENY") },
  ];
  await withRules("http_response_headers_transform", rules, async () => {
    const answer = await get("/");
    assert.doesNotMatch(answer, /x-powered-by/i);
    assert.deepEqual(answer.match(/set-cookie: \w=\d/gi)?.length, 3);
    assert.match(answer, /X-Frame-Options: DENY\r\n/);
    assert.match(await get("/", "", "HEAD"), /X-Frame-Options: DENY\r\n/);
    edge.replica.apply([rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", [{ action: "block", expression: "true" }])]);
    assert.match(await get("/"), /^HTTP\/1\.1 403 [^]*X-Frame-Options: DENY\r\n/);
    edge.replica.apply([{ kind: "ruleset", id: "fw", value: null }]);
  });
});

test("custom errors: rules replace error pages of the origin and of the edge, but not a response that a rule chose", async () => {
  const rules: Rules = [
    {
      action: "serve_error",
      expression: "http.response.code eq 404",
      action_parameters: { content: "<h1>Gone for a walk</h1>", status_code: 410 },
    },
    {
      action: "serve_error",
      expression: "http.response.code ge 400",
      action_parameters: { content: "{}", content_type: "application/json" },
    },
  ];
  await withRules("http_custom_errors", rules, async () => {
    assert.match(await get("/status/404"), /^HTTP\/1\.1 410 Gone\r\n[^]*Content-Type: text\/html; charset=utf-8\r\n[^]*Gone for a walk/);
    assert.match(await get("/status/500"), /^HTTP\/1\.1 500 [^]*Content-Type: application\/json\r\n[^]*\{\}$/);
    assert.match(await get("/status/201"), /origin says 201/);
    const firewall = (rule: Rules[number]) => rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", [rule]);
    edge.replica.apply([firewall({ action: "block", expression: "true" })]);
    assert.match(await get("/"), /^HTTP\/1\.1 403 [^]*application\/json[^]*\{\}$/);
    edge.replica.apply([
      firewall({
        action: "block",
        expression: "true",
        action_parameters: { response: { status_code: 418, content: "mine", content_type: "text/plain" } },
      }),
    ]);
    assert.match(await get("/"), /^HTTP\/1\.1 418 [^]*mine$/);
    edge.replica.apply([{ kind: "ruleset", id: "fw", value: null }]);
  });
});

test("configuration rules: a request has its zone's settings with the rule's changes", async () => {
  // The origin does not speak TLS, and this visitor used none: the test shows that the zone's settings stay the same.
  const rules: Rules = [{ action: "set_config", expression: 'http.request.uri.path eq "/strict"', action_parameters: { ssl: "strict" } }];
  await withRules("http_config_settings", rules, async () => {
    assert.match(await get("/strict"), /origin says 200/);
    assert.equal(EDGE_SETTINGS_DEFAULTS.ssl, "flexible");
  });
});

test("a custom ruleset of the account runs in its zones if the account executes it", async () => {
  const custom = rulesetOp("custom", "account", "account", "http_request_firewall_custom", [
    { action: "block", expression: 'http.request.uri.path eq "/c"' },
  ]);
  assert.ok(custom.kind === "ruleset" && custom.value !== null);
  edge.replica.apply([{ ...custom, value: { ...custom.value, kind: "custom" } }]);
  assert.match(await get("/c"), /^HTTP\/1\.1 200/);
  edge.replica.apply([
    rulesetOp("root", "account", "account", "http_request_firewall_custom", [
      { action: "execute", expression: 'cf.zone.name eq "example.com"', action_parameters: { id: "custom", version: "latest" } },
    ]),
  ]);
  assert.match(await get("/c"), /^HTTP\/1\.1 403/);
  assert.deepEqual([edge.security.at(-1)?.ruleset_id, edge.security.at(-1)?.deployed_by], ["custom", "root-1"]);
  for (const id of ["root", "custom"]) edge.replica.apply([{ kind: "ruleset", id, value: null }]);
});

test("skipping a later phase lasts for the whole request", async () => {
  const account: Rules = [
    { action: "skip", expression: 'http.request.uri.path eq "/open"', action_parameters: { phases: ["http_request_redirect"] } },
  ];
  edge.replica.apply([
    rulesetOp("r", "account", "account", "http_request_redirect", [
      { action: "redirect", expression: "true", action_parameters: { from_value: { target_url: { value: "/away" } } } },
    ]),
  ]);
  await withRules(
    "http_request_firewall_custom",
    [{ action: "log", expression: "not ssl" }],
    async () => {
      assert.match(await get("/open"), /origin says 200/);
      assert.match(await get("/other"), /^HTTP\/1\.1 302/);
    },
    account,
  );
  edge.replica.apply([{ kind: "ruleset", id: "r", value: null }]);
});

test("cached responses pass the response phases, and rewritten requests have their own cache keys", async (t) => {
  let count = 0;
  const counting = await httpOrigin((req, res) => {
    count++;
    res.statusCode = req.url?.includes("missing") ? 404 : 200;
    res.setHeader("cache-control", "max-age=60");
    const body = `${count} ${String(req.headers["x-forwarded-host"] ?? "")}`;
    res.setHeader("content-length", body.length);
    res.end(body);
  });
  const site = await startEdge(siteOps(counting.port));
  t.after(async () => {
    await site.close();
    counting.close();
  });
  const ask = (path: string) => exchangeRaw(site.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`);
  site.replica.apply([
    rulesetOp("h", "zone", "zone", "http_response_headers_transform", [
      { action: "rewrite", expression: "true", action_parameters: header("X-Seen", "set", "yes") },
    ]),
    rulesetOp("e", "zone", "zone", "http_custom_errors", [
      { action: "serve_error", expression: "http.response.code eq 404", action_parameters: { content: "nothing here" } },
    ]),
  ]);
  for (const path of ["/a.css", "/a.css"]) assert.match(await ask(path), /^HTTP\/1\.1 200 [^]*X-Seen: yes\r\n[^]*\r\n1 $/);
  for (const path of ["/missing.css", "/missing.css"])
    assert.match(await ask(path), /^HTTP\/1\.1 404 [^]*X-Seen: yes\r\n[^]*nothing here$/);
  assert.equal(count, 2);
  site.replica.apply([
    rulesetOp("q", "zone", "zone", "http_request_late_transform", [
      { action: "rewrite", expression: "true", action_parameters: header("X-Forwarded-Host", "set", "other.example") },
    ]),
  ]);
  // The cache has read the header lines before response rules read a field.
  site.replica.apply([
    rulesetOp("h", "zone", "zone", "http_response_headers_transform", [
      {
        action: "rewrite",
        expression: "true",
        action_parameters: { headers: { "X-Asked": { operation: "set", expression: 'http.request.headers["x-forwarded-host"][0]' } } },
      },
    ]),
  ]);
  assert.match(await ask("/a.css"), /X-Asked: other\.example\r\n[^]*3 other\.example$/);
  assert.deepEqual(site.errors, []);
});

test("account lists: rules look items up, follow changes of the list, and redirect by a list", async () => {
  const listOp = (id: string, name: string, kind: "ip" | "redirect", items: readonly unknown[]): Op => ({
    kind: "list",
    id,
    value: { account_id: "account", list_id: id.split("/", 1)[0] ?? "", name, kind, part: 0, items },
  });
  const rule = { action: "block", expression: "ip.src in $office" };
  const firewall = rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", [rule]);
  assert.ok(firewall.kind === "ruleset" && firewall.value !== null);
  edge.replica.apply([listOp("l1/0", "office", "ip", [])]);
  edge.replica.apply([{ ...firewall, value: { ...firewall.value, account_id: "account" } }]);
  assert.match(await get("/"), /^HTTP\/1\.1 200/);
  edge.replica.apply([listOp("l1/0", "office", "ip", ["127.0.0.0/8"])]);
  assert.match(await get("/"), /^HTTP\/1\.1 403/);
  edge.replica.apply([listOp("l1/1", "office", "ip", ["192.0.2.1"])]);
  edge.replica.apply([listOp("l1/0", "office", "ip", ["192.0.2.2"])]);
  assert.match(await get("/"), /^HTTP\/1\.1 200/);
  edge.replica.apply([{ kind: "ruleset", id: "fw", value: null }]);

  const redirects = [{ source_url: "www.example.com/from", target_url: "https://example.net/to", status_code: 308 }];
  edge.replica.apply([listOp("l2/0", "moves", "redirect", redirects)]);
  const from_list = { name: "moves", key: "http.request.full_uri" };
  const bulk = rulesetOp("r", "account", "account", "http_request_redirect", [
    { action: "redirect", expression: "http.request.full_uri in $moves", action_parameters: { from_list } },
  ]);
  assert.ok(bulk.kind === "ruleset" && bulk.value !== null);
  edge.replica.apply([{ ...bulk, value: { ...bulk.value, account_id: "account" } }]);
  assert.match(await get("/from?x=1"), /^HTTP\/1\.1 308 [^]*Location: https:\/\/example\.net\/to\r\n/);
  assert.match(await get("/elsewhere"), /^HTTP\/1\.1 200/);
  edge.replica.apply([{ kind: "ruleset", id: "r", value: null }]);
});

test("expressions compute redirect targets, paths, and header fields in both directions", async () => {
  edge.replica.apply([
    rulesetOp("d", "zone", "zone", "http_request_dynamic_redirect", [
      {
        action: "redirect",
        expression: 'starts_with(http.request.uri.path, "/blog/")',
        action_parameters: {
          from_value: {
            target_url: { expression: 'concat("https://blog.example.com", substring(http.request.uri.path, 5))' },
            status_code: 301,
          },
        },
      },
    ]),
    rulesetOp("t", "zone", "zone", "http_request_transform", [
      {
        action: "rewrite",
        expression: 'http.request.uri.path eq "/UP"',
        action_parameters: { uri: { path: { expression: "lower(http.request.uri.path)" } } },
      },
    ]),
    rulesetOp("h", "zone", "zone", "http_request_late_transform", [
      {
        action: "rewrite",
        expression: "true",
        action_parameters: { headers: { "X-Client": { operation: "set", expression: "to_string(ip.src)" } } },
      },
      {
        action: "rewrite",
        expression: "true",
        action_parameters: { headers: { "X-None": { operation: "set", expression: 'http.request.headers["absent"][0]' } } },
      },
    ]),
    rulesetOp("o", "zone", "zone", "http_response_headers_transform", [
      {
        action: "rewrite",
        expression: "true",
        action_parameters: { headers: { "X-Status": { operation: "set", expression: "to_string(http.response.code)" } } },
      },
    ]),
  ]);
  assert.match(await get("/blog/post?x"), /^HTTP\/1\.1 301 [^]*Location: https:\/\/blog\.example\.com\/post\r\n/);
  assert.match(await get("/UP"), /X-Status: 200\r\n/);
  assert.deepEqual([asked.url, asked.headers["x-client"], asked.headers["x-none"]], ["/up", "127.0.0.1", undefined]);
  for (const id of ["d", "t", "h", "o"]) edge.replica.apply([{ kind: "ruleset", id, value: null }]);
});

const limit = (ratelimit: object, more: object = {}): Rules[number] => ({
  action: "block",
  expression: 'starts_with(http.request.uri.path, "/limited")',
  ratelimit: { characteristics: ["cf.colo.id", "ip.src"], period: 60, ...ratelimit },
  ...more,
});
const statuses = async (...requests: readonly (() => Promise<string>)[]): Promise<readonly string[]> => {
  const seen: string[] = [];
  for (const request of requests) seen.push((await request()).slice(9, 12));
  return seen;
};

test("rate limits: a client gets 429 for the timeout after its quota, and other requests are not affected", async () => {
  await withRules("http_ratelimit", [limit({ requests_per_period: 2, mitigation_timeout: 600 })], async () => {
    const once = (path: string) => () => get(path);
    const seen = await statuses(once("/limited"), once("/free"), once("/limited/b"), once("/limited"), once("/limited"), once("/free"));
    assert.deepEqual(seen, ["200", "200", "200", "429", "429", "200"]);
    assert.match(await get("/limited"), /Retry-After: 600\r\n[^]*Error 1015/);
    assert.equal(edge.security.at(-1)?.phase, "http_ratelimit");
  });
});

test("rate limits count by any characteristic, and by a counting expression that can read the response", async () => {
  const byKey = limit({ characteristics: ['http.request.headers["x-key"][0]'], requests_per_period: 1 });
  await withRules("http_ratelimit", [byKey], async () => {
    const as = (key: string) => () => get("/limited", `X-Key: ${key}\r\n`);
    assert.deepEqual(await statuses(as("a"), as("b"), as("a"), as("b"), as("c")), ["200", "200", "429", "429", "200"]);
  });
  const logins = limit({ requests_per_period: 2, counting_expression: "http.response.code eq 401" }, { expression: "true" });
  await withRules("http_ratelimit", [{ ...logins, id: "logins" }], async () => {
    const path = (to: string) => () => get(to);
    const seen = await statuses(path("/status/401"), path("/"), path("/"), path("/status/401"), path("/status/401"), path("/"));
    assert.deepEqual(seen, ["401", "200", "200", "401", "429", "429"]);
  });
});

test("rate limits can count only requests that reach the origin, and by a score from the origin", async () => {
  const scoring = await httpOrigin((req, res) => {
    res.setHeader("cache-control", "max-age=60");
    res.setHeader("x-score", req.url?.includes("dear") ? "50" : "1");
    res.end("ok");
  });
  const site = await startEdge(siteOps(scoring.port));
  const ask = (path: string) => () => exchangeRaw(site.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`);
  const put = (id: string, rule: Rules[number]) =>
    site.replica.apply([rulesetOp("z", "zone", "zone", "http_ratelimit", [{ ...rule, id, expression: "true" }])]);
  try {
    put("origin", limit({ requests_per_period: 2, requests_to_origin: true }));
    assert.deepEqual(await statuses(ask("/a.css"), ask("/a.css"), ask("/a.css"), ask("/b.css"), ask("/c.css")), [
      "200",
      "200",
      "200",
      "200",
      "429",
    ]);
    put("score", limit({ score_per_period: 60, score_response_header_name: "X-Score", mitigation_timeout: 60 }));
    assert.deepEqual(await statuses(ask("/x"), ask("/dear"), ask("/x"), ask("/dear"), ask("/x")), ["200", "200", "200", "200", "429"]);
    assert.deepEqual(site.errors, []);
  } finally {
    await site.close();
    scoring.close();
  }
});
