import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { cidrContains, parseCidr } from "#kernel/net/cidr.ts";
import { formatIp, parseIp } from "#kernel/net/ip.ts";
import { createAsnList, createHostnameList, createIpList } from "./lists.ts";

// Near each other, so that blocks meet addresses.
const address = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 192, 255), fc.constantFrom(0, 1, 255), fc.nat(3), fc.nat(255)).map((octets) => octets.join(".")),
  fc
    .tuple(fc.constantFrom("::", "2001:db8::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:"), fc.nat(0xffff))
    .map(([start, last]) => `${start}${last.toString(16)}`),
);
const block = fc.tuple(address, fc.double({ min: 0, max: 1, noNaN: true })).map(([text, share]) => {
  const prefix = Math.round(share * (text.includes(":") ? 128 : 32));
  return share > 0.9 ? text : `${text}/${prefix}`;
});

test("an address list contains exactly the addresses of its blocks, per family", () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 40 }), fc.array(address, { minLength: 1, maxLength: 40 }), (texts, asked) => {
      const list = createIpList(texts);
      const blocks = texts.map((text) => parseCidr(text)).filter((cidr) => cidr !== undefined);
      assert.equal(blocks.length, texts.length);
      for (const text of asked) {
        const ip = parseIp(text);
        assert.ok(ip);
        const expected = blocks.some((cidr) => cidrContains(cidr, ip));
        assert.equal(list.has(text), expected, text);
        assert.equal(list.has(formatIp(ip)), expected, text);
      }
    }),
    { numRuns: 500 },
  );
});

test("large lists find every address and no other", () => {
  const texts = Array.from({ length: 5000 }, (_, i) => `10.${i >> 8}.${i & 255}.${(i * 7) & 254}`);
  const list = createIpList(texts);
  for (const text of texts) {
    assert.equal(list.has(text), true, text);
    assert.equal(list.has(text.replace(/\d+$/, (last) => String(Number(last) + 1))), false, text);
  }
  for (const text of ["", "10.0.0", "10.0.0.256", "9.255.255.255", "10.19.136.0", "255.255.255.255", "::", "x"])
    assert.equal(list.has(text), false, text);
  assert.throws(() => createIpList(["10.0.0.1", "10.0.0.0/33"]), /not an address or block: 10\.0\.0\.0\/33/);
});

test("lists of host names and of numbers", () => {
  const hosts = createHostnameList(["Example.com", "*.example.net"]);
  for (const host of ["example.com", "EXAMPLE.COM", "a.example.net", "a.b.example.net"]) assert.equal(hosts.has(host), true, host);
  for (const host of ["www.example.com", "example.net", "xexample.net", ""]) assert.equal(hosts.has(host), false, host);
  const networks = createAsnList([64_500]);
  assert.deepEqual([networks.has(64_500), networks.has(64_501), networks.has("64500")], [true, false, false]);
});
