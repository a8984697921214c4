import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { cidrContains, createCidrSet, formatCidr, parseCidr, unmapCidr } from "./cidr.ts";
import { formatIp, parseIp } from "./ip.ts";

const ip = (text: string) => parseIp(text) ?? assert.fail(text);
const cidr = (text: string) => parseCidr(text) ?? assert.fail(text);

test("a parsed block is canonical: its host bits are zero, and a plain address is a block of one", () => {
  assert.equal(formatCidr(cidr("192.0.2.77/24")), "192.0.2.0/24");
  assert.equal(formatCidr(cidr("192.0.2.77")), "192.0.2.77/32");
  assert.equal(formatCidr(cidr("2001:DB8::1/33")), "2001:db8::/33");
  assert.equal(formatCidr(cidr("255.255.255.255/31")), "255.255.255.254/31");
  assert.equal(formatCidr(cidr("::/0")), "::/0");
});

test("a block of mapped IPv6 addresses becomes the IPv4 block", () => {
  assert.equal(formatCidr(unmapCidr(cidr("::ffff:192.0.2.77/120"))), "192.0.2.0/24");
  assert.equal(formatCidr(unmapCidr(cidr("::ffff:c000:24d"))), "192.0.2.77/32");
  assert.equal(formatCidr(unmapCidr(cidr("::ffff:0:0/96"))), "0.0.0.0/0");
  for (const text of ["192.0.2.0/24", "2001:db8::/32", "::ffff:0:0/95", "::/0", "::fffe:192.0.2.0/120"])
    assert.deepEqual(unmapCidr(cidr(text)), cidr(text), text);
});

test("invalid blocks are refused", () => {
  for (const text of [
    "",
    "/",
    "1.2.3.4/",
    "1.2.3.4/33",
    "1.2.3.4/-1",
    "1.2.3.4/08",
    "1.2.3.4/1e1",
    "::/129",
    "1.2.3/24",
    "1.2.3.4/24/8",
    "::/ 8",
    "/24",
  ]) {
    assert.equal(parseCidr(text), undefined, text);
  }
  assert.throws(() => createCidrSet(["10.0.0.0/8", "10.0.0.0/80"]), { name: "RangeError", message: /10\.0\.0\.0\/80/ });
});

test("a block contains the addresses between its bounds", () => {
  const block = cidr("198.51.100.128/25");
  for (const inside of ["198.51.100.128", "198.51.100.255"]) assert.ok(cidrContains(block, ip(inside)), inside);
  for (const outside of ["198.51.100.127", "198.51.101.0", "::ffff:198.51.100.200"]) assert.ok(!cidrContains(block, ip(outside)), outside);
  assert.ok(cidrContains(cidr("0.0.0.0/0"), ip("203.0.113.9")));
});

test("a set contains a mapped address if it contains the IPv4 address, and no invalid text", () => {
  const set = createCidrSet(["10.0.0.0/8", "2001:db8::/32"]);
  for (const text of ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8:ffff::1"]) assert.ok(set.has(text), text);
  for (const text of ["11.0.0.0", "::ffff:11.0.0.0", "2001:db9::", "10.1.2", "", "localhost"]) assert.ok(!set.has(text), text);
  assert.ok(!createCidrSet([]).has("10.0.0.1"));
  assert.equal(createCidrSet(["10.0.0.0/9", "10.128.0.0/9", "10.0.0.0/8"]).size, 1);
});

test("property: sets and blocks agree with the block list of Node.js", () => {
  const address = fc.tuple(fc.constantFrom(10, 192), fc.nat(3), fc.nat(255), fc.nat(255)).map((octets) => octets.join("."));
  const wide = fc
    .tuple(fc.constantFrom("2001:db8", "fd00:1"), fc.nat(0xffff), fc.nat(3))
    .map(([head, low, group]) => `${head}:${group}::${low.toString(16)}`);
  const block = fc.oneof(fc.tuple(address, fc.integer({ min: 4, max: 32 })), fc.tuple(wide, fc.integer({ min: 14, max: 128 })));
  fc.assert(
    fc.property(fc.array(block, { maxLength: 12 }), fc.oneof(address, wide), (blocks, asked) => {
      const list = new net.BlockList();
      for (const [base, prefix] of blocks) list.addSubnet(base, prefix, base.includes(":") ? "ipv6" : "ipv4");
      const expected = list.check(asked, asked.includes(":") ? "ipv6" : "ipv4");
      const texts = blocks.map(([base, prefix]) => `${base}/${prefix}`);
      assert.equal(createCidrSet(texts).has(asked), expected);
      assert.equal(
        texts.some((text) => cidrContains(cidr(text), ip(asked))),
        expected,
      );
    }),
    { numRuns: 500 },
  );
});

test("property: a block survives formatting and parsing", () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.nat(128), (base, prefix) => {
      const block = cidr(`${base}/${prefix}`);
      assert.deepEqual(parseCidr(formatCidr(block)), block);
      assert.ok(cidrContains(block, ip(base)), formatIp(block.base));
    }),
  );
});
