import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { normalizedPath } from "./normalize-path.ts";

test("equivalent paths get one form, with slashes made of backslashes and merged unless RFC 3986 alone is asked for", () => {
  for (const [path, merged, plain] of [
    ["/", "/", "/"],
    ["/wp-adm%69n", "/wp-admin", "/wp-admin"],
    ["//admin", "/admin", "//admin"],
    ["/a/../admin", "/admin", "/admin"],
    ["/\\admin", "/admin", "/%5Cadmin"],
    ["/%68ello//pa\\th", "/hello/pa/th", "/hello//pa%5Cth"],
    ["/hello//../path", "/path", "/hello/path"],
    ["/hello/\\../path", "/path", "/hello/%5C../path"],
    ["/%2e%2E/%2e/x", "/x", "/x"],
    ["/a/b/..", "/a/", "/a/"],
    ["/a/.", "/a/", "/a/"],
    ["/../..", "/", "/"],
    ["/.well-known/x", "/.well-known/x", "/.well-known/x"],
    ["/..a/...", "/..a/...", "/..a/..."],
    ["/a%2fb%2F%5c", "/a%2Fb%2F%5C", "/a%2Fb%2F%5C"],
    ["/%2541%25", "/%2541%25", "/%2541%25"],
    ["/a|b<\xe9>%e9", "/a%7Cb%3C%E9%3E%E9", "/a%7Cb%3C%E9%3E%E9"],
    ["/a;p=1,2'(x)*@:!$&[]", "/a;p=1,2'(x)*@:!$&[]", "/a;p=1,2'(x)*@:!$&[]"],
    ["*", "*", "*"],
  ] as const) {
    assert.equal(normalizedPath(path, "cloudflare"), merged, path);
    assert.equal(normalizedPath(path, "rfc3986"), plain, path);
  }
});

test("a normalized path stays as it is, and has neither dot segments nor escapes of plain characters", () => {
  const piece = fc.constantFrom("/", "\\", ".", "..", "a", "%2e", "%2F", "%5c", "%41", "%25", "%E9", "\xe9", "|", "~", ";");
  const path = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join("")}`);
  fc.assert(
    fc.property(path, fc.constantFrom("cloudflare" as const, "rfc3986" as const), (text, type) => {
      const normal = normalizedPath(text, type);
      assert.equal(normalizedPath(normal, type), normal, text);
      assert.doesNotMatch(normal, /\/\.{1,2}(?:\/|$)|%2e|%41|[\\|\xe9]/i, text);
      if (type === "cloudflare") assert.doesNotMatch(normal, /\/\//, text);
    }),
  );
});
