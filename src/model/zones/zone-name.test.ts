import assert from "node:assert/strict";
import { test } from "node:test";
import { PlatformError } from "#kernel/errors/errors.ts";
import { zoneName } from "./zone-name.ts";

const codeOf = (input: string): number => {
  try {
    zoneName(input);
    return 0;
  } catch (error) {
    assert.ok(error instanceof PlatformError && error.source === "/name");
    return error.code;
  }
};

test("a zone is a registrable domain", () => {
  assert.equal(zoneName("Example.COM."), "example.com");
  assert.equal(zoneName("bücher.example"), "xn--bcher-kva.example");
  assert.equal(zoneName("example.co.uk"), "example.co.uk");
  assert.equal(zoneName("someone.github.io"), "someone.github.io");
  for (const input of ["com", "co.uk", "github.io", "", "a b", "-a.com", "192.0.2.1", "ex ample.com", "a..com"])
    assert.equal(codeOf(input), 1049, input);
});

test("special-use and reverse zones are allowed for tests at any depth", () => {
  for (const input of [
    "example.test",
    "a.b.example.test",
    "corp.internal",
    "home.arpa",
    "printer.home.arpa",
    "shop.example",
    "2.0.192.in-addr.arpa",
    "8.b.d.0.1.0.0.2.ip6.arpa",
  ])
    assert.equal(zoneName(input), input);
  for (const input of ["in-addr.arpa", "ip6.arpa", "arpa"]) assert.notEqual(codeOf(input), 0, input);
});

test("parts of a /24 are zones with the slash of RFC 2317", () => {
  assert.equal(zoneName("0/25.2.0.192.in-addr.arpa"), "0/25.2.0.192.in-addr.arpa");
  assert.equal(zoneName("128/26.2.0.192.IN-ADDR.arpa."), "128/26.2.0.192.in-addr.arpa");
  for (const input of [
    "0/25.example.com",
    "0/25.in-addr.arpa",
    "0/25",
    "a/25.2.0.192.in-addr.arpa",
    "2.0/25.192.in-addr.arpa",
    "0/25.8.b.d.0.1.0.0.2.ip6.arpa",
  ])
    assert.equal(codeOf(input), 1049, input);
});

test("zones are below domains, or single labels that are not in the public DNS", () => {
  for (const input of [
    "www.example.com",
    "lab.example.com",
    "a.b.example.co.uk",
    "a.someone.github.io",
    "lan",
    "internal",
    "corp",
    "home",
    "test",
    "localhost",
    "fritz.box",
    "a.corp",
  ])
    assert.equal(zoneName(input), input);
  for (const input of ["com", "de", "co.uk", "github.io", "net.", "LAN com", "192.0.2.1", "1"]) assert.equal(codeOf(input), 1049, input);
});
