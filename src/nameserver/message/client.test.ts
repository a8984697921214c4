import assert from "node:assert/strict";
import { test } from "node:test";
import { clientOf, subscriberOf } from "./client.ts";

test("client addresses are parsed from the texts of Node.js sockets, for every kind of socket", () => {
  const rows: [text: string | undefined, address: number[]][] = [
    ["192.0.2.1", [192, 0, 2, 1]],
    ["::ffff:192.0.2.1", [192, 0, 2, 1]],
    ["2001:db8::1", [0x20, 1, 0xd, 0xb8, ...Array.from({ length: 11 }, () => 0), 1]],
    ["fe80::1%eth0", [0xfe, 0x80, ...Array.from({ length: 13 }, () => 0), 1]],
    [undefined, Array.from({ length: 16 }, () => 0)],
  ];
  for (const [text, address] of rows) assert.deepEqual([...clientOf("tcp", text, 53).address], address, text);
});

test("a subscriber is an IPv6 /64 or an IPv4 address", () => {
  const of = (text: string): string => subscriberOf(clientOf("tcp", text, 53));
  assert.equal(of("2001:db8:0:1::1"), of("2001:db8:0:1:ffff:ffff:ffff:ffff"));
  assert.notEqual(of("2001:db8:0:1::1"), of("2001:db8:0:2::1"));
  assert.equal(of("192.0.2.1"), of("::ffff:192.0.2.1"));
  assert.notEqual(of("192.0.2.1"), of("192.0.2.2"));
});
