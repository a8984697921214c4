import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LoggedFields } from "#events/rows/rows.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { eventually } from "../../test/support/eventually.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;

before(async () => {
  origin = await httpOrigin((req, res) => {
    const status = Number(/\/status\/(\d+)/.exec(req.url ?? "")?.[1] ?? 200);
    setTimeout(
      () =>
        res
          .writeHead(status, {
            "content-type": "text/html",
            via: ["a", "b"],
            "set-cookie": ["sid=secret; Path=/", "b=2"],
            "x-origin": "yes",
          })
          .end("x".repeat(1000)),
      req.url === "/slow" ? 60 : 0,
    );
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

type Rules = Parameters<typeof rulesetOp>[4];
const get = (path: string, more = "") =>
  exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n${more}\r\n`);

async function withRules(phases: Readonly<Record<string, Rules>>, work: () => Promise<void>): Promise<void> {
  edge.replica.apply(Object.entries(phases).map(([phase, rules]) => rulesetOp(phase, "zone", "zone", phase, rules)));
  await work();
  edge.replica.apply(Object.keys(phases).map((id) => ({ kind: "ruleset", id, value: null })));
}

const log = (parameters: object, expression = "true") => ({ action: "log_custom_field", expression, action_parameters: { ...parameters } });
const named = (...names: readonly string[]) => names.map((name) => ({ name }));

async function logged(path: string, more = ""): Promise<LoggedFields | null | undefined> {
  const { length } = edge.requests;
  await get(path, more);
  await eventually(() => edge.requests.length > length);
  return edge.requests.at(-1)?.custom_fields;
}

test("logged fields: a row has the fields of request, cookies and response before and after rules, and leaves missing ones out", async () => {
  const header = (name: string, value: string) => ({ headers: { [name]: { operation: "set", value } } });
  const phases = {
    http_request_late_transform: [{ action: "rewrite", expression: "true", action_parameters: header("X-Id", "ours") }],
    http_response_headers_transform: [{ action: "rewrite", expression: "true", action_parameters: header("X-Origin", "hidden") }],
    http_log_custom_fields: [
      log({
        cookie_fields: named("plan", "none"),
        request_fields: named("X-Id", "none"),
        transformed_request_fields: named("X-Id"),
        response_fields: [...named("X-Origin", "Content-Encoding"), { name: "Via", preserve_duplicates: true }],
      }),
      log({ raw_response_fields: [...named("X-Origin", "via")], request_fields: named("accept-encoding") }),
    ],
  };
  await withRules(phases, async () => {
    assert.deepEqual(await logged("/", "X-Id: theirs\r\nCookie: a=1; plan=gr\xc3\xbcn; Plan=2\r\nAccept-Encoding: gzip\r\n"), {
      cookies: { plan: "grün" },
      request_headers: { "x-id": "theirs", "accept-encoding": "gzip" },
      transformed_request_headers: { "x-id": "ours" },
      response_headers: { "x-origin": "hidden", "content-encoding": "gzip", via: ["a", "b"] },
      raw_response_headers: { "x-origin": "yes", via: "a" },
    });
  });
  assert.equal(await logged("/"), null);
});

test("logged fields: a row has only cookies that a rule names, and other credentials only on request", async () => {
  const fields = log({
    request_fields: named("Cookie", "Authorization"),
    response_fields: [{ name: "Set-Cookie", preserve_duplicates: true }],
  });
  await withRules({ http_log_custom_fields: [fields] }, async () => {
    assert.deepEqual(await logged("/", "Cookie: sid=secret; b=2\r\nAuthorization: Basic YTpi\r\n"), {
      request_headers: { cookie: "sid=[redacted]; b=[redacted]", authorization: "Basic YTpi" },
      response_headers: { "set-cookie": ["sid=[redacted]; Path=/", "b=[redacted]"] },
    });
  });
});

test("logged fields: a row has the fields of the edge's own pages, within size limits", async () => {
  const many = Array.from({ length: 10 }, (_, i) => `x-${i}`);
  const phases = {
    http_request_firewall_custom: [{ action: "block", expression: 'http.request.uri.path eq "/blocked"' }],
    http_log_custom_fields: [
      log({ response_fields: named("Content-Type") }, "http.response.code eq 403"),
      log({ request_fields: named(...many), transformed_request_fields: named(...many) }, 'http.request.uri.path eq "/much"'),
    ],
  };
  await withRules(phases, async () => {
    assert.deepEqual(await logged("/blocked"), { response_headers: { "content-type": "text/html; charset=utf-8" } });
    const fields = await logged("/much", many.map((name) => `${name}: ${"v".repeat(1300)}\r\n`).join(""));
    assert.equal(Object.keys(fields?.request_headers ?? {}).length, many.length);
    assert.ok(JSON.stringify(fields).length <= 16_384);
  });
});

/** Results of the expressions in a response phase, each shown by a field. */
async function holding(
  path: string,
  expressions: readonly string[],
  more: Readonly<Record<string, Rules>> = {},
): Promise<readonly boolean[]> {
  const rules = expressions.map((expression, i) => ({
    action: "rewrite",
    expression,
    action_parameters: { headers: { [`X-Holds-${i}`]: { operation: "set", value: "1" } } },
  }));
  let answer = "";
  await withRules({ ...more, http_response_headers_transform: rules }, async () => {
    answer = await get(path);
  });
  return expressions.map((_, i) => answer.includes(`X-Holds-${i}:`));
}

test("response fields: rules see the source of an error and the time that origin and edge took", async () => {
  const FIREWALL: Readonly<Record<string, Rules>> = {
    http_request_firewall_custom: [
      { action: "block", expression: 'http.request.uri.path eq "/blocked"' },
      { action: "managed_challenge", expression: 'http.request.uri.path eq "/challenged"' },
      {
        action: "block",
        expression: 'http.request.uri.path eq "/own"',
        action_parameters: { response: { status_code: 400, content: "x", content_type: "text/plain" } },
      },
    ],
  };
  const is = (code: number, type: string) => `cf.response.1xxx_code eq ${code} and cf.response.error_type eq "${type}"`;
  for (const [path, expression] of [
    ["/", is(0, "")],
    ["/status/502", is(0, "")],
    ["/blocked", is(1020, "waf")],
    ["/own", is(1020, "waf")],
    ["/challenged", is(1040, "managed_challenge")],
  ] as const)
    assert.deepEqual(await holding(path, [expression], FIREWALL), [true], path);

  const timings = [
    "cf.timings.origin_ttfb_msec ge 50 and cf.timings.origin_ttfb_msec lt 60000",
    "cf.timings.edge_msec ge 0 and cf.timings.edge_msec lt 60000",
  ];
  assert.deepEqual(await holding("/slow", timings), [true, true]);
  assert.deepEqual(await holding("/blocked", ["cf.timings.origin_ttfb_msec ge 0", "cf.timings.edge_msec ge 0"], FIREWALL), [false, true]);
});

test("response fields: phases after a transform see its changes, and the original values in raw fields", async () => {
  const phases = {
    http_response_headers_transform: [
      { action: "rewrite", expression: "true", action_parameters: { headers: { "X-Origin": { operation: "set", value: "ours" } } } },
      // A rule of the same phase does not see the change yet.
      {
        action: "rewrite",
        expression: 'http.response.headers["x-origin"][0] eq "ours"',
        action_parameters: { headers: { "X-Never": { operation: "set", value: "1" } } },
      },
    ],
    http_log_custom_fields: [
      log(
        { cookie_fields: named("a") },
        'http.response.headers["x-origin"][0] eq "ours" and raw.http.response.headers["x-origin"][0] eq "yes"',
      ),
    ],
  };
  await withRules(phases, async () => {
    assert.deepEqual(await logged("/", "Cookie: a=1\r\n"), { cookies: { a: "1" } });
    assert.doesNotMatch(await get("/"), /X-Never/);
  });
});
