import assert from "node:assert/strict";
import { test } from "node:test";
import { parseIp } from "./ip.ts";
import { classifyIp, type IpClass, isLocalIp } from "./ip-class.ts";

const CASES: readonly (readonly [address: string, ipClass: IpClass, local: boolean])[] = [
  ["0.0.0.0", "unspecified", false],
  ["0.1.2.3", "reserved", false],
  ["10.0.0.1", "private", true],
  ["100.64.0.1", "shared", true],
  ["127.8.8.8", "loopback", true],
  ["169.254.169.254", "link_local", true],
  ["172.15.255.255", "global", false],
  ["172.16.0.0", "private", true],
  ["172.31.255.255", "private", true],
  ["172.32.0.0", "global", false],
  ["192.168.1.1", "private", true],
  ["198.19.0.1", "benchmarking", false],
  ["203.0.113.9", "documentation", false],
  ["224.0.0.251", "multicast", false],
  ["255.255.255.255", "broadcast", false],
  ["250.0.0.1", "reserved", false],
  ["8.8.8.8", "global", false],
  ["::", "unspecified", false],
  ["::1", "loopback", true],
  ["::ffff:127.0.0.1", "loopback", true],
  ["::ffff:10.0.0.1", "private", true],
  ["64:ff9b::a00:1", "translated", false],
  ["2002:a00:1::", "translated", false],
  ["2001:db8::1", "documentation", false],
  ["fd00::1", "unique_local", true],
  ["fe80::1", "link_local", true],
  ["ff02::1", "multicast", false],
  ["2606:4700::1111", "global", false],
  ["4000::1", "reserved", false],
];

test("the classifier recognizes every class of address", () => {
  for (const [text, ipClass, local] of CASES) {
    const address = parseIp(text) ?? assert.fail(text);
    assert.equal(classifyIp(address), ipClass, text);
    assert.equal(isLocalIp(address), local, text);
  }
});
