import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { canonicalIp, compareIp, formatIp, isIp, isIpv4, isIpv6, parseIp, unmapIp } from "./ip.ts";

const ipv6Bytes = fc
  .array(fc.constantFrom(0, 0, 0, 1, 0x20, 0xff, 0xab), { minLength: 16, maxLength: 16 })
  .map((bytes) => Uint8Array.from(bytes));

test("IPv4 requires four plain decimal octets", () => {
  assert.deepEqual(parseIp("192.0.2.255"), { family: 4, bytes: Uint8Array.of(192, 0, 2, 255) });
  for (const text of [
    "",
    "1",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "01.2.3.4",
    "1.2.3.4 ",
    "1..2.3",
    ".1.2.3",
    "1.2.3.",
    "0x1.2.3.4",
    "1.2.3.-4",
    "1.2.3.4/24",
    "١.2.3.4",
  ]) {
    assert.equal(parseIp(text), undefined, text);
  }
});

test("IPv6 in all of its spellings has one canonical text (RFC 5952)", () => {
  const cases: readonly (readonly [text: string, canonical: string])[] = [
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:0db8::0001:0000", "2001:db8::1:0"],
    ["::", "::"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["1::", "1::"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["::ffff:c000:0201", "::ffff:192.0.2.1"],
    ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ];
  for (const [text, canonical] of cases) assert.equal(canonicalIp(text), canonical, text);
});

test("invalid IPv6 addresses are refused", () => {
  const cases = [
    ":",
    ":::",
    "1",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1::2::3",
    "12345::",
    "g::",
    "::1%eth0",
    "fe80::1%1",
    "1:2:3:4:5:6:7:8:",
    ":1:2:3:4:5:6:7:8",
    "::1.2.3",
    "1.2.3.4::",
    "::1.2.3.4:5",
    "1:2:3:4:5:6:7:1.2.3.4",
    "[::1]",
    " ::1",
    "1:2:3:4:5:6:7:8::",
  ];
  for (const text of cases) assert.equal(parseIp(text), undefined, text);
});

test("the reader agrees with the platform on any text of address characters", () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(..."0123456789abcfF:."), maxLength: 24 }),
    fc.array(fc.constantFrom("0", "1", "ab", "ffff", "", ":", "1.2.3.4", "255"), { maxLength: 10 }).map((parts) => parts.join(":")),
    fc.ipV4(),
    fc.ipV6(),
  );
  fc.assert(
    fc.property(text, (candidate) => {
      assert.equal(parseIp(candidate)?.family ?? 0, net.isIP(candidate));
      assert.equal(isIp(candidate), net.isIP(candidate) !== 0);
      assert.equal(isIpv4(candidate), net.isIPv4(candidate));
      assert.equal(isIpv6(candidate), net.isIPv6(candidate));
    }),
    { numRuns: 2000 },
  );
});

test("an address survives formatting and parsing", () => {
  fc.assert(
    fc.property(ipv6Bytes, (bytes) => {
      const text = formatIp({ family: 6, bytes });
      assert.deepEqual(parseIp(text), { family: 6, bytes });
      assert.equal(canonicalIp(text), text);
    }),
  );
});

test("property: the canonical text of an IPv6 address equals the URL parser's, except for mapped addresses", () => {
  fc.assert(
    fc.property(ipv6Bytes, (bytes) => {
      const text = formatIp({ family: 6, bytes });
      if (!text.startsWith("::ffff:")) assert.equal(`[${text}]`, new URL(`http://[${text}]/`).hostname);
    }),
  );
});

test("unmapIp changes mapped addresses only", () => {
  const unmapped = (text: string): string => formatIp(unmapIp(parseIp(text) ?? assert.fail(text)));
  assert.equal(unmapped("::ffff:192.0.2.1"), "192.0.2.1");
  assert.equal(unmapped("::192.0.2.1"), "::c000:201");
  assert.equal(unmapped("192.0.2.1"), "192.0.2.1");
});

test("addresses sort by family, then by value", () => {
  const sorted = ["::1", "10.0.0.2", "::", "9.255.255.255", "10.0.0.10"].map((text) => parseIp(text) ?? assert.fail(text)).sort(compareIp);
  assert.deepEqual(sorted.map(formatIp), ["9.255.255.255", "10.0.0.2", "10.0.0.10", "::", "::1"]);
});
