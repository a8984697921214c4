import assert from "node:assert/strict";
import { test } from "node:test";
import { findHeadEnd, parseRequestHead } from "./head.ts";
import { Head } from "./parsed-head.ts";
import { parseAuthority } from "./host.ts";
import { readTarget } from "./target.ts";

const HOSTS: readonly (readonly [text: string, host: string | null, port?: number])[] = [
  ["example.com", "example.com"],
  ["EXAMPLE.com.", "example.com"],
  ["a_b.example.com:8080", "a_b.example.com", 8080],
  ["127.0.0.1:80", "127.0.0.1", 80],
  ["[::1]:8443", "[::1]", 8443],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["", null],
  [".", null],
  ["example..com", null],
  [".example.com", null],
  ["user@example.com", null],
  ["example.com/path", null],
  ["example.com?x", null],
  ["exa mple.com", null],
  ["example.com:", null],
  ["example.com:0", null],
  ["example.com:65536", null],
  ["example.com:80:80", null],
  ["example.com, other.example", null],
  ["%65xample.com", null],
  ["b\u00fccher.example", null],
  ["[::1", null],
  ["[zz]", null],
  ["::1", null],
  [`${"a".repeat(64)}.example`, null],
  [`${"a.".repeat(127)}aa`, null],
];
for (const [text, host, port] of HOSTS) {
  test(`authority ${JSON.stringify(text)}`, () =>
    assert.deepEqual(parseAuthority(text), host === null ? null : { host, port: port ?? null }));
}

function target(line: string, host: string | null, scheme: "http" | "https" = "http") {
  const buffer = Buffer.from(`${line} HTTP/1.1\r\n${host === null ? "" : `Host: ${host}\r\n`}\r\n`, "latin1");
  const head = new Head();
  assert.equal(parseRequestHead(buffer, 0, findHeadEnd(buffer, 0, buffer.length, 0), head), 0);
  return readTarget(buffer, head, scheme);
}

test("origin form is split at the first question mark", () => {
  assert.deepEqual(target("GET /a?b?c", "example.com"), {
    authority: { host: "example.com", port: null },
    path: "/a",
    query: "b?c",
    originForm: "/a?b?c",
    lines: "Host: example.com\r\n",
  });
});

test("absolute form becomes origin form if its authority matches the Host's", () => {
  assert.equal(target("GET http://Example.com:8080/a?b", "example.COM:8080")?.originForm, "/a?b");
  assert.equal(target("GET http://example.com", "example.com")?.originForm, "/");
  assert.equal(target("GET http://example.com?q", "example.com")?.originForm, "/?q");
  assert.equal(target("GET https://example.com/", "example.com", "https")?.originForm, "/");
  assert.equal(target("GET http://example.com:80/", "example.com")?.originForm, "/");
  assert.equal(target("GET https://example.com/", "example.com:443", "https")?.originForm, "/");
});

const DISAGREEING: readonly (readonly [line: string, host: string | null])[] = [
  ["GET http://a.example/", "b.example"],
  ["GET http://a.example:81/", "a.example"],
  ["GET http://a.example:443/", "a.example"],
  ["GET http://a@a.example/", "a.example"],
  ["GET https://a.example/", "a.example"],
  ["GET ftp://a.example/", "a.example"],
  ["GET http:///", "a.example"],
  ["GET /", null],
  ["GET /", ""],
  ["GET *", "a.example"],
  ["GET a.example:80", "a.example"],
  ["GET path", "a.example"],
];
for (const [line, host] of DISAGREEING) test(`refused: ${line} with Host ${host}`, () => assert.equal(target(line, host), null));

test("the asterisk form is valid for OPTIONS", () => assert.equal(target("OPTIONS *", "a.example")?.originForm, "*"));

test("RFC 9112 §3.2.2: the absolute form is parsed once", () => {
  const read = target("GET http://example.com?a=b//c?d", "example.com");
  assert.deepEqual([read?.path, read?.query, read?.originForm], ["/", "a=b//c?d", "/?a=b//c?d"]);
  assert.equal(target("GET http://example.com/a?b", "example.com")?.originForm, "/a?b");
  assert.equal(target("GET ftp://example.com/", "example.com"), null);
});

test("bytes beyond ASCII in a target become escapes, in each part of it but the host", () => {
  const read = target("GET /caf\xc3\xa9/\xff?q=\x80%C3", "example.com");
  assert.deepEqual([read?.path, read?.query, read?.originForm], ["/caf%C3%A9/%FF", "q=%80%C3", "/caf%C3%A9/%FF?q=%80%C3"]);
  assert.equal(read?.lines, "Host: example.com\r\n");
  assert.equal(target("GET http://example.com/\xe9", "example.com")?.originForm, "/%E9");
  assert.equal(target("GET http://b\xfccher.example/", "example.com"), null);
  assert.equal(target("GET /\xe9%zz", "example.com"), null);
  assert.equal(target("GET /a", "example.com")?.path, "/a");
});
