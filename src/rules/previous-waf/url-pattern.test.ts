import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { urlExpression, urlPatternProblem } from "./url-pattern.ts";

test("host and path are matched separately, and a star matches within one of them", () => {
  for (const [pattern, expression] of [
    ["*", "true"],
    ["*/*", "true"],
    ["example.com", '(http.host wildcard r"example.com" and raw.http.request.uri strict wildcard r"/")'],
    ["example.com*", '(http.host wildcard r"example.com*")'],
    ["example.com/*", '(http.host wildcard r"example.com")'],
    ["*example.com/a/*", '(http.host wildcard r"*example.com" and raw.http.request.uri strict wildcard r"/a/*")'],
    ["https://example.com/", '(ssl and http.host wildcard r"example.com" and raw.http.request.uri strict wildcard r"/")'],
    ["http://example.com:8080/x?y=*", '(not ssl and http.host wildcard r"example.com" and raw.http.request.uri strict wildcard r"/x?y=*")'],
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

test("every accepted pattern gives an expression that compiles", () => {
  const part = fc.string({ maxLength: 30, unit: "binary-ascii" });
  fc.assert(
    fc.property(part, part, (host, path) => {
      for (const pattern of [host, `${host}/${path}`, `example.com/${path}`])
        if (urlPatternProblem(pattern) === null) compileExpression(urlExpression(pattern), "http_request_firewall_managed");
    }),
  );
});
