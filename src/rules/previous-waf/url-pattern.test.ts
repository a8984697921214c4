import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { testRequest } from "#rules/testing/views.ts";
import { lockedUrlExpression, normalUrlPattern, urlExpression, urlPatternProblem } from "./url-pattern.ts";

test("host and path are matched separately, and a star matches within one of them", () => {
  for (const [pattern, expression] of [
    ["*", "true"],
    ["*/*", "true"],
    ["example.com", '(http.host wildcard r"example.com" and http.request.uri strict wildcard r"/")'],
    ["example.com*", '(http.host wildcard r"example.com*")'],
    ["example.com/*", '(http.host wildcard r"example.com")'],
    ["*example.com/a/*", '(http.host wildcard r"*example.com" and http.request.uri strict wildcard r"/a/*")'],
    ["https://example.com/", '(ssl and http.host wildcard r"example.com" and http.request.uri strict wildcard r"/")'],
    ["http://example.com:8080/x?y=*", '(not ssl and http.host wildcard r"example.com" and http.request.uri strict wildcard r"/x?y=*")'],
    ["*://*.example.com/*", '(http.host wildcard r"*.example.com")'],
  ] as const) {
    assert.equal(urlPatternProblem(pattern), null, pattern);
    assert.equal(urlExpression(pattern), expression);
  }
});

test("a pattern that is not a URL is refused", () => {
  for (const pattern of ["", " ", "a b", 'a"b', "a\\b", "a#b", "a/**", "/path", "exam ple", "é.example/", "x".repeat(1025)])
    assert.notEqual(urlPatternProblem(pattern), null, pattern);
});

test("a pattern that the path of no request can match, or with a port that cannot be, is refused", () => {
  for (const end of ["/%zz", "/%", "/%4", "/a%0", "/%00", ":65536/", ":99999", "/%2/*", "a:b/", ":80:80/", "::1/"])
    assert.notEqual(urlPatternProblem(`example.com${end}`), null, end);
  for (const end of ["/%41", "/%4*", "/%*", "/%7F", ":65535/a", ":8080", ":", "/a?b=%zz"])
    assert.equal(urlPatternProblem(`example.com${end}`), null, end);
});

test("the path of a pattern gets the form in which rules see paths, without its stars, its query and its host", () => {
  for (const [pattern, normal] of [
    ["*example.com/Ab%41/%2f*?q=%41//", "*example.com/AbA/%2F*?q=%41//"],
    ["https://example.com:8443//a/../b", "https://example.com:8443/b"],
    ["*://example.com/%a*", "*://example.com/%A*"],
    ["example.com*", "example.com*"],
    ["example.com", "example.com"],
  ] as const) {
    assert.equal(normalUrlPattern(pattern, { scope: "both", type: "cloudflare" }), normal);
    assert.equal(normalUrlPattern(pattern, { scope: "none", type: "cloudflare" }), pattern);
  }
});

test("every accepted pattern gives an expression that compiles", () => {
  const part = fc.string({ maxLength: 30, unit: "binary-ascii" });
  fc.assert(
    fc.property(part, part, (host, path) => {
      for (const pattern of [host, `${host}/${path}`, `example.com/${path}`])
        if (urlPatternProblem(pattern) === null) compileExpression(urlExpression(pattern), "http_request_firewall_managed");
    }),
  );
});

test("a lockdown of a path covers each query, and the path in percent-encoding", () => {
  const covers = (pattern: string, path: string, query = ""): boolean =>
    compileExpression(lockedUrlExpression(pattern), "http_request_firewall_custom")(
      testRequest({ host: "www.example.com", path, query }),
      null,
    );
  for (const [pattern, path, query, isCovered] of [
    ["www.example.com/exact", "/exact", "", true],
    ["www.example.com/exact", "/exact", "x=1", true],
    ["www.example.com/exact", "/%65xact", "", true],
    ["www.example.com/exact", "/exact/", "", false],
    ["www.example.com/wp-admin*", "/wp-adm%69n/", "a=b", true],
    ["*/wp-admin*", "/wp-adm%69n/", "", true],
    ["www.example.com", "/", "x=1", true],
    ["www.example.com", "/other", "", false],
    ["other.example.com/*", "/exact", "", false],
    ["www.example.com/a?b=c", "/a", "b=c", true],
    ["www.example.com/a?b=c", "/a", "", false],
  ] as const)
    assert.equal(covers(pattern, path, query), isCovered, `${pattern} ${path}?${query}`);
});
