import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import {
  hostnameMatches,
  hostnameProblem,
  isPublicSuffix,
  isSpecialUse,
  isWithin,
  parseHostname,
  registrableDomain,
  unicodeHostname,
} from "./hostname.ts";

const label = (length: number): string => "a".repeat(length);

test("a parsed host name is canonical: lower case, A-labels, no trailing dot", () => {
  assert.equal(parseHostname("WWW.Example.COM."), "www.example.com");
  assert.equal(parseHostname("exämple.com"), "xn--exmple-cua.com");
  assert.equal(parseHostname("faß.de"), "xn--fa-hia.de");
  assert.equal(parseHostname("例え。テスト"), "xn--r8jz45g.xn--zckzah");
  assert.equal(parseHostname("localhost"), "localhost");
  assert.equal(unicodeHostname("xn--exmple-cua.com"), "exämple.com");
});

test("invalid host names are refused with the reason", () => {
  const cases: readonly (readonly [text: string, reason: RegExp])[] = [
    ["", /empty/],
    [".", /empty/],
    ["a..b", /empty label/],
    [".a", /empty label/],
    ["a.b..", /empty label/],
    ["-a.com", /hyphen/],
    ["a-.com", /hyphen/],
    ["a b.com", /letters, digits/],
    ["a/b.com", /letters, digits/],
    ["a%41.com", /letters, digits/],
    ["é/b.com", /characters/],
    ["é%41.com", /characters/],
    ["a_b.com", /letters, digits/],
    ["*.com", /letters, digits/],
    ["192.0.2.1", /number/],
    ["a\u0000.com", /letters, digits|characters/],
    [`${label(64)}.com`, /longer than 63/],
    [`${`${label(63)}.`.repeat(3)}${label(62)}`, /longer than 253/],
    ["é".repeat(2000), /characters/],
  ];
  for (const [text, reason] of cases) {
    assert.equal(parseHostname(text), undefined, text);
    assert.match(hostnameProblem(text) ?? "accepted", reason, text);
  }
  assert.equal(hostnameProblem("example.com"), undefined);
  assert.ok(parseHostname(`${`${label(63)}.`.repeat(3)}${label(61)}`), "253 characters are a name");
});

test("the parser accepts wildcards and underscores only on request and in their place", () => {
  assert.equal(parseHostname("*.Example.com", { wildcard: true }), "*.example.com");
  for (const text of ["*", "a.*.com", "*a.com", "*.*.com"]) assert.equal(parseHostname(text, { wildcard: true }), undefined, text);
  assert.equal(parseHostname("_sip._tcp.example.com", { underscores: true }), "_sip._tcp.example.com");
  assert.equal(parseHostname("é_b.com", { underscores: true }), "xn--_b-9ia.com");
});

test("property: a parsed name parses to itself", () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string({ unit: "grapheme", maxLength: 40 })), (text) => {
      const name = parseHostname(text, { underscores: true });
      if (name !== undefined) assert.equal(parseHostname(name, { underscores: true }), name);
    }),
  );
});

test("property: every domain that fast-check generates is a host name", () => {
  fc.assert(fc.property(fc.domain(), (text) => assert.equal(parseHostname(text), text.toLowerCase())));
});

test("isWithin compares whole labels", () => {
  assert.ok(isWithin("example.com", "example.com"));
  assert.ok(isWithin("a.b.example.com", "example.com"));
  assert.ok(!isWithin("badexample.com", "example.com"));
  assert.ok(!isWithin("com", "example.com"));
});

test("a wildcard covers exactly one label", () => {
  assert.ok(hostnameMatches("*.example.com", "a.example.com"));
  assert.ok(!hostnameMatches("*.example.com", "a.b.example.com"));
  assert.ok(!hostnameMatches("*.example.com", "example.com"));
  assert.ok(hostnameMatches("example.com", "example.com"));
});

test("public suffixes and registrable domains follow the Public Suffix List", () => {
  assert.equal(registrableDomain("www.example.co.uk"), "example.co.uk");
  assert.equal(registrableDomain("co.uk"), undefined);
  assert.equal(registrableDomain("a.b.github.io"), "b.github.io");
  assert.equal(registrableDomain("a.b.internal"), "b.internal");
  assert.equal(registrableDomain("a.b.xn--55qx5d.cn"), "b.xn--55qx5d.cn");
  for (const name of ["com", "co.uk", "github.io", "internal", "xn--55qx5d.cn"]) assert.ok(isPublicSuffix(name), name);
  for (const name of ["example.com", "www.ck"]) assert.ok(!isPublicSuffix(name), name);
});

test("special-use names are recognized with their subdomains", () => {
  for (const name of ["localhost", "a.localhost", "example", "x.test", "router.home.arpa"]) assert.ok(isSpecialUse(name), name);
  for (const name of ["example.com", "mytest", "1.0.0.127.in-addr.arpa"]) assert.ok(!isSpecialUse(name), name);
});

test("the parser removes no control character from a name silently", () => {
  const controls = [...Array.from({ length: 32 }, (_, code) => code), 127].map((code) => String.fromCharCode(code));
  for (const control of controls)
    for (const name of [`a${control}b.com`, `${control}ab.com`, `ab.com${control}`, `ä${control}b.com`])
      assert.equal(parseHostname(name), undefined, JSON.stringify(name));
});
