import assert from "node:assert/strict";
import { test } from "node:test";
import { createRedirectList, type ListedRedirect } from "./redirect-list.ts";

const item = (source_url: string, target_url: string, more: Partial<ListedRedirect> = {}): ListedRedirect => ({
  source_url,
  target_url,
  status_code: 301,
  ...more,
});

const list = createRedirectList([
  item("example.com/a", "https://example.net/b"),
  item("https://example.com/tls", "https://example.net/tls", { status_code: 308 }),
  item("example.com/docs", "https://docs.example.net/", { subpath_matching: true }),
  item("example.com/docs/old", "https://old.example.net", { subpath_matching: true, preserve_path_suffix: false }),
  item("example.com/q", "https://example.net/q", { preserve_query_string: true }),
  item("wild.example/", "https://example.org/", { include_subdomains: true, subpath_matching: true }),
]);

const CASES: readonly (readonly [string, string | undefined])[] = [
  ["http://example.com/a", "https://example.net/b"],
  ["https://EXAMPLE.com/a?x=1", "https://example.net/b"],
  ["http://example.com/A", undefined],
  ["http://example.com/a/b", undefined],
  ["http://www.example.com/a", undefined],
  ["https://example.com/tls", "https://example.net/tls"],
  ["http://example.com/tls", undefined],
  ["http://example.com/docs/one/two?x", "https://docs.example.net/one/two"],
  ["http://example.com/documents", undefined],
  ["http://example.com/docs/old/page", "https://old.example.net"],
  ["http://example.com/q?a=1", "https://example.net/q?a=1"],
  ["http://a.b.wild.example/x", "https://example.org/x"],
  ["http://wild.example", "https://example.org/"],
  ["nonsense", undefined],
];

test("the most specific source decides the redirect", () => {
  for (const [address, location] of CASES) assert.equal(list.redirect(address)?.location, location, address);
  assert.equal(list.redirect("https://example.com/tls")?.status, 308);
  assert.equal(list.has("http://example.com/a"), true);
});

test("a URL with many segments and labels is looked up in bounded time", () => {
  assert.equal(list.redirect(`http://${"a.".repeat(120)}example.com/${"b/".repeat(4000)}`), undefined);
});
