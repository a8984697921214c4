import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { compileExpression, compileValue, ExpressionError } from "./expression.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";
import { HOLD, RESPONSE_HOLD } from "#rules/expression/testing/evaluated.cases.ts";
import { createAsnList, createHostnameList, createIpList, type NamedLists } from "#rules/expression/values/lists.ts";
import { compileRegexTest } from "#rules/regex/regex.ts";
import { CATASTROPHIC, REGEX } from "#rules/expression/testing/regex.cases.ts";
import { REFUSED } from "#rules/expression/testing/refused.cases.ts";
import { REFUSED_VALUES, VALUES } from "#rules/expression/testing/value.cases.ts";
import { STRING } from "#rules/expression/values/value-type.ts";

const REQUEST_PHASE = "http_request_firewall_custom";
const RESPONSE_PHASE = "http_response_firewall_managed";

const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const NOW_SECONDS = 1_800_000_000;
const body = bytes(
  '{"company":"cloud","version":1,"version":2,"net":{"a":[1,{"b":"}"}],"name":"n"},"list":["a","b"],"deep":[0,{"id":-234}],' +
    String.raw`"big":9007199254740993,"float":42.0,"esc":"\"\u00e9"}`,
);

/** A token of five minutes ago. */
function token(message: string, separator: string, encoding: "base64" | "base64url"): string {
  const stamp = String(NOW_SECONDS - 300);
  const mac = createHmac("sha256", "mysecretkey").update(message).update(stamp).digest(encoding);
  return `${message}${separator}${stamp}-${encoding === "base64" ? encodeURIComponent(mac) : mac}`;
}

const request = testRequest({
  query: "x=1&x=2&empty=&bare&enc=%253Cscript%253E+x&uni=%u2601&s=%3Cscript%3E",
  method: "POST",
  received_path: "/A/b.HTML",
  received_query: "q=0",
  http_version: "HTTP/1.1",
  at_ms: NOW_SECONDS * 1000 + 123,
  server_ip: "2001:db8::1",
  server_port: 443,
  client_port: 50_123,
  zone_plan: "enterprise",
  tls: { version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256" },
  body: { raw: body, size: 160, truncated: false },
  random_seed: "0123456789abcdef",
  place: { asn: 64_500 },
  headers: {
    "x-a": ["one", "Two"],
    cookie: ["k=v; a%20b=c"],
    referer: ["https://r.example/"],
    "x-forwarded-for": ["203.0.113.1", "203.0.113.2"],
    "accept-language": ["fr-CH, fr;q=0.8, en;q=0.9, de;q=0.7, *;q=0.5"],
    "x-quote": [String.raw`say "hi" \ `.trimEnd()],
    "x-utf8": [bytes("é☁")],
    "x-star": [String.raw`a*b\c`],
    "x-b64": ["MTIzYWJj"],
    "x-token": [token("/download/cat.jpg", "?verify=", "base64")],
    "x-safe": [token("message", "", "base64url")],
  },
});
const response = testResponse({ status: 404, headers: { "x-r": ["yes"] } });

const LISTS = new Map([
  ["office", createIpList(["192.0.2.0/28", "2001:db8::/64"])],
  ["empty", createIpList([])],
  ["hosts", createHostnameList(["*.example.com", "example.net"])],
  ["networks", createAsnList([64_500])],
]);
const lists: NamedLists = { find: (name) => LISTS.get(name) };

for (const [what, texts] of Object.entries(HOLD)) {
  test(`matching filters: ${what}`, () => {
    for (const text of texts) {
      assert.equal(compileExpression(text, REQUEST_PHASE, { lists })(request, null), true, text);
      const inverse = `not (${text})`;
      assert.equal(compileExpression(inverse, REQUEST_PHASE, { lists })(request, null), false, inverse);
    }
  });
}

test("matching filters of responses, in response phases only", () => {
  for (const text of RESPONSE_HOLD) {
    assert.equal(compileExpression(text, RESPONSE_PHASE)(request, response), true, text);
    assert.throws(() => compileExpression(text, REQUEST_PHASE), /does not exist in phase http_request_firewall_custom/, text);
  }
  assert.equal(compileExpression("http.response.code ne 1", RESPONSE_PHASE)(request, null), false, "missing value");
  assert.equal(compileExpression("http.response.code eq 404", "http_ratelimit", { counts: true })(request, response), true);
});

test("an error has its position", () => {
  for (const [text, line, column, reason] of REFUSED) {
    refused(() => compileExpression(text, REQUEST_PHASE, { lists }), text, [line, column], reason);
  }
});

test("value expressions", () => {
  const plain = testRequest({ ...request, query: "q=1", received_path: undefined, headers: headersOf(request) } as object);
  for (const [phase, text, gives] of VALUES) {
    assert.equal(compileValue(text, phase, STRING)(plain, null) ?? null, gives, text);
  }
  for (const [phase, text, column, reason] of REFUSED_VALUES) refused(() => compileValue(text, phase, STRING), text, [1, column], reason);
});

function headersOf(view: typeof request): Record<string, readonly string[]> {
  return Object.fromEntries((view.header_fields?.().names ?? []).map((name) => [name, view.headers(name)]));
}

function refused(compile: () => unknown, text: string, place: readonly number[], reason: string): void {
  assert.throws(compile, (error: unknown) => {
    assert.ok(error instanceof ExpressionError, `${text}: ${String(error)}`);
    assert.deepEqual([error.line, error.column], place, `${text}: ${error.message}`);
    assert.ok(error.reason.includes(reason), `${text}: ${error.reason}`);
    return true;
  });
}

test("regular expressions match like Rust's, in either engine", () => {
  const engines = new Set<string>();
  for (const [pattern, matching, others] of REGEX) {
    const given = bytes(pattern);
    const regex = compileRegexTest(given);
    engines.add(regex.engine);
    for (const text of matching) assert.equal(regex.test(text), true, `${pattern} on ${JSON.stringify(text)} by ${regex.engine}`);
    for (const text of others) assert.equal(regex.test(text), false, `${pattern} on ${JSON.stringify(text)} by ${regex.engine}`);
  }
  assert.deepEqual([...engines].sort(), ["automaton", "native"]);
});

test("the automaton runs patterns that a backtracking engine would never finish", () => {
  for (const pattern of CATASTROPHIC) {
    const regex = compileRegexTest(pattern);
    assert.equal(regex.engine, "automaton", pattern);
    regex.test(`${"a".repeat(50_000)}!`);
    regex.test(`${"x".repeat(50_000)}!`);
  }
});

test("the error message shows position, line and marker", () => {
  assert.throws(() => compileExpression('ssl and\nhttp.fooo eq "x"', REQUEST_PHASE), {
    message: 'Filter parsing error (2:1):\nhttp.fooo eq "x"\n^^^^^^^^^ unknown field "http.fooo"; did you mean http.host?',
  });
});
