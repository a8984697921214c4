import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ownerName } from "./dns-name.ts";

const ZONE = "example.com";
const refused = (input: string | undefined, type: string): void => {
  assert.throws(
    () => ownerName(input, ZONE, type),
    (error) => error instanceof PlatformError && error.code === 9000 && error.source === "/name",
    `${type} ${JSON.stringify(input)}`,
  );
};

test("names are accepted relative, absolute, as the apex, with a trailing dot, in upper case and in Unicode", () => {
  const rows: readonly (readonly [input: string, name: string])[] = [
    ["www", "www.example.com"],
    ["www.example.com", "www.example.com"],
    ["www.example.com.", "www.example.com"],
    ["WWW.Example.COM", "www.example.com"],
    ["@", "example.com"],
    ["example.com", "example.com"],
    ["Example.com.", "example.com"],
    ["a.b", "a.b.example.com"],
    ["notexample.com", "notexample.com.example.com"],
    ["bücher", "xn--bcher-kva.example.com"],
    ["a。b", "a.b.example.com"],
    ["*", "*.example.com"],
    ["*.shop", "*.shop.example.com"],
    ["a_b", "a_b.example.com"],
    ["_acme-challenge.www", "_acme-challenge.www.example.com"],
  ];
  for (const [input, name] of rows) assert.equal(ownerName(input, ZONE, "A"), name);
});

test("SPEC 2.2 and SPEC 8.3: names of A, AAAA and CNAME start with a letter, end with a letter or digit and have at most 63 characters per label", () => {
  const label63 = `a${"b".repeat(62)}`;
  assert.equal(ownerName(label63, ZONE, "A"), `${label63}.${ZONE}`);
  for (const type of ["A", "AAAA", "CNAME"]) {
    for (const input of [`${label63}c`, "1www", "-a", "a-", "a_", "a b", "a*b", "www.*", "a/b", "a+b", ""]) refused(input, type);
  }
});

test("other types accept the names of services and reverse zones", () => {
  for (const input of ["_sip._tcp", "1", "0/25", "a*b", "1-2_3"]) assert.equal(ownerName(input, ZONE, "TXT"), `${input}.${ZONE}`);
});

test("SRV names start with a service and a protocol (SPEC 2.2), and DS is only at delegations (RFC 4035 §2.4)", () => {
  for (const input of ["_sip._tcp", "_ldap._tcp.dc._msdcs", "_sip._tcp.example.com", "*._tcp"]) ownerName(input, ZONE, "SRV");
  for (const input of ["@", "sip", "_sip", "_sip.tcp", "sip._tcp", "x._sip._tcp", "*"]) refused(input, "SRV");
  assert.equal(ownerName("child", ZONE, "DS"), `child.${ZONE}`);
  for (const input of ["@", "example.com."]) refused(input, "DS");
});

test("names that are invalid in DNS are refused for every type", () => {
  const long = Array.from({ length: 5 }, () => "a".repeat(60)).join(".");
  for (const input of [
    undefined,
    "",
    ".",
    "a..b",
    ".a",
    "a.",
    "other.net.",
    `${"a".repeat(64)}`,
    long,
    'a"b',
    "a\\b",
    "a;b",
    "a(b",
    "a b",
    "a\tb",
    "a\0b",
    "a@b",
    "ü%41",
    "ü/b",
    "x".repeat(2000),
  ])
    refused(input, "TXT");
});

test("any text is refused with a code or gives a name inside the zone that parses to itself", () => {
  const types = fc.constantFrom("A", "CNAME", "TXT", "SRV");
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(..."abc-_.*@É。1/") })), types, (input, type) => {
      let name: string;
      try {
        name = ownerName(input, ZONE, type);
      } catch (error) {
        assert.ok(error instanceof PlatformError && error.code === 9000);
        return;
      }
      assert.ok(name === ZONE || name.endsWith(`.${ZONE}`));
      assert.match(name, /^[\x21-\x7e]{1,253}$/);
      assert.equal(ownerName(name, ZONE, type), name);
      assert.equal(ownerName(`${name}.`, ZONE, type), name);
    }),
  );
});

const DIGITS = ["3cx", "4705", "123", "1www.a", "*.1", "0", "9-9"] as const;

test("names that start with a digit are refused by SPEC 2.2 and accepted by RFC 1123, under otherwise equal rules", () => {
  for (const type of ["A", "AAAA", "CNAME"])
    for (const input of DIGITS) {
      refused(input, type);
      assert.equal(ownerName(input, ZONE, type, "rfc1123"), `${input}.${ZONE}`);
    }
  for (const input of ["-a", "a-", "a_", "a/b", "1_", "*.-1", "a*b"])
    assert.throws(
      () => ownerName(input, ZONE, "A", "rfc1123"),
      (error) => error instanceof PlatformError && error.code === 9000,
    );
});

test("reverse zones accept numbers and the slashes of RFC 2317 under every rule", () => {
  for (const zone of ["2.0.192.in-addr.arpa", "8.b.d.0.1.0.0.2.ip6.arpa", "0-127.2.0.192.in-addr.arpa"])
    for (const input of ["1", "1.0-127", "1.0/25", "0/25", "255", "f.e.d"])
      for (const type of ["A", "CNAME", "PTR", "NS"]) assert.equal(ownerName(input, zone, type), `${input}.${zone}`);
});

test("SRV records of other nameservers may have any name", () => {
  for (const input of ["sip", "@", "_sip"]) {
    refused(input, "SRV");
    ownerName(input, ZONE, "SRV", "any");
  }
});

test("names of other nameservers may contain any byte, and parse to themselves", () => {
  for (const [input, name] of [
    [String.raw`a\032b.example.com.`, String.raw`a\032b.example.com`],
    [String.raw`A\.B.example.com`, String.raw`a\.b.example.com`],
    [String.raw`\$x.example.com`, "$x.example.com"],
    ["trailing_.example.com", "trailing_.example.com"],
  ] as const) {
    assert.equal(ownerName(input, ZONE, "A", "any"), name);
    assert.equal(ownerName(name, ZONE, "A", "any"), name);
  }
  for (const input of [String.raw`a\.example.com`, String.raw`x\.example.net.`, "a\\", String.raw`\999.example.com`])
    assert.throws(
      () => ownerName(input, ZONE, "A", "any"),
      (error) => error instanceof PlatformError && error.code === 9000,
      input,
    );
});
