import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { cidrContains, formatCidr, parseCidr } from "./cidr.ts";
import { formatIp, parseIp } from "./ip.ts";
import { createAddressPolicy } from "./address-policy.ts";

/** IANA's special-purpose registries (RFC 6890) as far as they are not global, and what carries an IPv4 address inside. */
const SPECIAL: readonly (readonly [block: string, why: string, onLoopback: boolean])[] = [
  ["0.0.0.0/8", "this network", false],
  ["10.0.0.0/8", "private use", true],
  ["100.64.0.0/10", "shared address space", true],
  ["127.0.0.0/8", "loopback", true],
  ["100.100.100.200/32", "metadata at Alibaba", false],
  ["168.63.129.16/32", "metadata at Azure", false],
  ["fd00:ec2::/32", "metadata at Amazon", false],
  ["fd20:ce::254/128", "metadata at Google", false],
  ["fd00:c1::a9fe:a9fe/128", "metadata at Oracle", false],
  ["169.254.0.0/16", "link local, where clouds keep credentials", false],
  ["172.16.0.0/12", "private use", true],
  ["192.0.0.0/24", "IETF protocol assignments", false],
  ["192.0.2.0/24", "documentation", false],
  ["192.88.99.0/24", "6to4 relay anycast, deprecated", false],
  ["192.168.0.0/16", "private use", true],
  ["198.18.0.0/15", "benchmarking", false],
  ["198.51.100.0/24", "documentation", false],
  ["203.0.113.0/24", "documentation", false],
  ["224.0.0.0/4", "multicast", false],
  ["240.0.0.0/4", "reserved", false],
  ["255.255.255.255/32", "limited broadcast", false],
  ["::/128", "unspecified", false],
  ["::1/128", "loopback", true],
  ["::/96", "IPv4-compatible, deprecated", false],
  ["64:ff9b::/96", "NAT64", false],
  ["64:ff9b:1::/48", "NAT64, local use", false],
  ["100::/64", "discard only", false],
  ["100:0:0:1::/64", "dummy prefix", false],
  ["2001::/23", "IETF protocol assignments, Teredo", false],
  ["2001:db8::/32", "documentation", false],
  ["2002::/16", "6to4", false],
  ["3fff::/20", "documentation", false],
  ["5f00::/16", "segment routing", false],
  ["fc00::/7", "unique local", true],
  ["fe80::/10", "link local", false],
  ["fec0::/10", "site local, deprecated", false],
  ["ff00::/8", "multicast", false],
];

const PUBLIC = createAddressPolicy("0.0.0.0", [], undefined);
const LOOPBACK = createAddressPolicy("127.0.0.1", [], undefined);

/** An address of the block, most often near its ends. */
function within(block: string): fc.Arbitrary<string> {
  const { base, prefix } = parseCidr(block) ?? assert.fail(block);
  const bits = base.bytes.length * 8;
  const most = (1n << BigInt(bits - prefix)) - 1n;
  return fc.oneof(fc.bigInt(0n, most), fc.constantFrom(0n, most)).map((offset) => {
    let value = BigInt(`0x${Buffer.from(base.bytes).toString("hex")}`) + offset;
    const bytes = Uint8Array.from(base.bytes);
    for (let i = bytes.length - 1; i >= 0; i--, value >>= 8n) bytes[i] = Number(value & 0xffn);
    return formatIp({ family: base.family, bytes });
  });
}

for (const [block, why, onLoopback] of SPECIAL) {
  test(`${block} (${why}) is refused in public, and ${onLoopback ? "allowed" : "refused"} on loopback`, () => {
    fc.assert(
      fc.property(within(block), (address) => {
        // The most specific block decides: ::1 stands in ::/96, 255.255.255.255 in 240/4.
        if (block === "::/96" && address === "::1") return;
        assert.equal(PUBLIC(address, 443), false, address);
        assert.equal(LOOPBACK(address, 443), onLoopback, address);
        if (parseIp(address)?.family !== 4) return;
        assert.equal(PUBLIC(`::ffff:${address}`, 443), false, `mapped ${address}`);
        assert.equal(LOOPBACK(`::ffff:${address}`, 443), onLoopback, `mapped ${address}`);
      }),
      { numRuns: 60 },
    );
  });
}

test("property: all other IPv4 addresses, and global unicast of IPv6, are allowed", () => {
  const blocks = SPECIAL.map(([block]) => parseCidr(block) ?? assert.fail(block));
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), within("2000::/3")), (address) => {
      const parsed = parseIp(address) ?? assert.fail(address);
      const special = blocks.find((block) => cidrContains(block, parsed));
      assert.equal(PUBLIC(address, 443), special === undefined, special && formatCidr(special));
    }),
    { numRuns: 2000 },
  );
});

test("the operator's blocks are always allowed, in every spelling, and nothing outside them", () => {
  const allows = createAddressPolicy("203.0.113.1", ["10.1.0.0/16", "169.254.169.254/32", "fd00:1::/32"], undefined);
  for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "169.254.169.254", "fd00:1::5", "FD00:1:0:0::5"])
    assert.ok(allows(address, 443), address);
  for (const address of ["10.2.0.1", "169.254.169.253", "fd00:2::1", "127.0.0.1"]) assert.ok(!allows(address, 443), address);
});

test("a private listen address counts as public: others can reach it", () => {
  assert.equal(createAddressPolicy("10.0.0.1", [], undefined)("10.0.0.2", 443), false);
  assert.equal(createAddressPolicy("::", [], undefined)("::1", 443), false);
  assert.equal(createAddressPolicy("::1", [], undefined)("10.0.0.2", 443), true);
  assert.equal(createAddressPolicy("localhost", [], undefined)("127.0.0.1", 443), true);
});

test("invalid addresses are refused", () => {
  for (const text of ["", "localhost", "1", "0x7f.1", "127.1", "fe80::1%eth0", "[::1]", "010.0.0.1"])
    assert.equal(LOOPBACK(text, 443), false, text);
});
