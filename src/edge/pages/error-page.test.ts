import assert from "node:assert/strict";
import { test } from "node:test";
import { EDGE_ERRORS } from "./edge-errors.ts";
import { blockPage, errorPage, prefersJson } from "./error-page.ts";

const ACCEPT: readonly (readonly [accept: string, json: boolean])[] = [
  ["", false],
  ["*/*", false],
  ["text/html", false],
  ["application/json", true],
  ["Application/JSON;charset=utf-8", true],
  ["application/json, text/html", false],
  ["application/json;q=0.9, text/html;q=0.8", true],
  ["application/json;q=0", false],
  ["application/json, */*", true],
  ["text/html,application/xhtml+xml,*/*;q=0.8", false],
  ["application/json;q=bad", false],
  [",,;;q=,", false],
];
for (const [accept, json] of ACCEPT)
  test(`Accept ${JSON.stringify(accept)} gets ${json ? "JSON" : "HTML"}`, () => assert.equal(prefersJson(accept), json));

test("pages escape their values", () => {
  const page = errorPage({ code: 1, status: 500, title: "<b>&", message: "\"'<script>", place: "edge" }, "", "<ray>");
  assert.match(page.body, /&lt;b&gt;&amp;/);
  assert.match(page.body, /&quot;&#39;&lt;script&gt;/);
  assert.doesNotMatch(page.body, /<script>|<ray>/);
});

test("JSON pages have the API's envelope and the ray id", () => {
  const page = errorPage(EDGE_ERRORS.unroutable, "application/json", "abc");
  assert.equal(page.status, 530);
  assert.deepEqual(JSON.parse(page.body), {
    success: false,
    errors: [{ code: 1016, message: `Origin DNS error. ${EDGE_ERRORS.unroutable.message}` }],
    messages: [],
    result: null,
    error_name: "unroutable",
    ray_id: "abc",
  });
});

/** Details of this machine, the origin's address or the implementation. */
const INTERNALS = /\d+\.\d+\.\d+\.\d+|[Ll]ocalhost|\bE[A-Z]{5,}\b|\bat \w+ \(|\/src\/|[Nn]ode|undefined|null|\[object/;

for (const [name, error] of Object.entries(EDGE_ERRORS)) {
  test(`the page of ${name} says what failed, where, and with which ray, and shows no internals`, () => {
    const html = errorPage(error, "text/html", "0123456789abcdef");
    const json = errorPage(error, "application/json", "0123456789abcdef");
    assert.deepEqual([html.status, json.status, html.reason], [error.status, error.status, error.title]);
    const text = html.body
      .replace(/<style>.*<\/style>/, "")
      .replace(/<[^>]+>/g, "\n")
      .split("\n")
      .map((line) => line.trim().replaceAll("&#39;", "'"))
      .filter((line) => line !== "");
    const way = {
      visitor: ["not accepted", "ok", "not asked"],
      edge: ["ok", "failed", "not asked"],
      origin: ["ok", "ok", "failed"],
    }[error.place];
    assert.deepEqual(text.slice(0, 10), [
      error.title,
      `Error ${error.code}`,
      error.title,
      error.message,
      "Your request",
      way[0],
      "This service",
      way[1],
      "The site&rsquo;s server",
      way[2],
    ]);
    assert.deepEqual(text.slice(11), ["Ray ID", "0123456789abcdef"]);
    assert.doesNotMatch(html.body, INTERNALS);
    assert.doesNotMatch(html.body, /<script|https?:|src=|href=/, "it fetches nothing");
    assert.ok(Buffer.byteLength(html.body) < 2500, "it is small");
    assert.deepEqual(JSON.parse(json.body), {
      success: false,
      errors: [{ code: error.code, message: `${error.title}. ${error.message}` }],
      messages: [],
      result: null,
      error_name: name,
      ray_id: "0123456789abcdef",
    });
  });
}

test("a block rule's response is used as far as it is valid", () => {
  const block = (response: unknown) => blockPage(EDGE_ERRORS.blocked, { response }, "", "ray");
  assert.deepEqual(block({ status_code: 404, content: "x", content_type: "text/plain" }), {
    status: 404,
    reason: "Access denied",
    contentType: "text/plain",
    body: "x",
    isChosen: true,
    error: EDGE_ERRORS.blocked,
  });
  assert.equal(block({ status_code: 200, content: "x" }).status, 403);
  assert.equal(block({ status_code: 404, content: "x", content_type: "text/html\r\nX: y" }).contentType, "text/plain");
  assert.match(block(null).body, /Error 1020/);
});

test("errors with the same code are neighbouring rows of the table, and have different titles", () => {
  const rows = Object.values(EDGE_ERRORS);
  const seen = new Set<number>();
  for (const [i, { code }] of rows.entries()) {
    assert.ok(!seen.has(code) || rows[i - 1]?.code === code, `${code} stands in two places of the table`);
    seen.add(code);
  }
  assert.equal(new Set(rows.map(({ code, title }) => `${code} ${title}`)).size, rows.length);
});
