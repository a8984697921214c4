import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { canonicalIp } from "#kernel/net/ip.ts";
import { crc32cOf } from "./crc32c.ts";
import { PROXY_HEADER_BYTES_MAX, readProxyHeader } from "./proxy-header.ts";

const read = (text: string) => readProxyHeader(Buffer.from(text, "latin1"));

const SIGNATURE = "\r\n\r\n\0\r\nQUIT\n";
const V4 = "\xc0\x00\x02\x01\xc0\x00\x02\x02\x01\xbb\x00\x50";
const V6 = `\x20\x01\x0d\xb8${"\0".repeat(11)}\x01${"\0".repeat(15)}\x02\x01\xbb\x00\x50`;

/** Version 2: command, family and what follows, with its length filled in. */
const binary = (command: number, family: number, rest: string) =>
  `${SIGNATURE}${String.fromCharCode(command, family, rest.length >> 8, rest.length & 0xff)}${rest}`;
const field = (type: number, value: string) => `${String.fromCharCode(type, value.length >> 8, value.length & 0xff)}${value}`;

function withChecksum(rest: string): string {
  const bytes = Buffer.from(binary(0x21, 0x11, `${rest}${field(3, "\0\0\0\0")}`), "latin1");
  bytes.writeUInt32BE(crc32cOf(bytes), bytes.length - 4);
  return bytes.toString("latin1");
}

const GOOD: readonly (readonly [why: string, bytes: string, clientIp: string | null])[] = [
  ["IPv4 as text", "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n", "192.0.2.1 56324"],
  ["IPv6 as text", "PROXY TCP6 2001:DB8::0:1 2001:db8::2 56324 443\r\n", "2001:db8::1 56324"],
  ["unknown as text", "PROXY UNKNOWN\r\n", null],
  ["unknown as text with what it likes", "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", null],
  ["the longest line", `PROXY UNKNOWN ${"x".repeat(91)}\r\n`, null],
  ["IPv4", binary(0x21, 0x11, V4), "192.0.2.1 443"],
  ["IPv6", binary(0x21, 0x21, V6), "2001:db8::1 443"],
  ["a health check of the balancer's own", binary(0x20, 0, ""), null],
  ["a health check with leftovers", binary(0x20, 0x11, `${V4}xx`), null],
  ["a family that is not said", binary(0x21, 0, ""), null],
  ["a local socket", binary(0x21, 0x31, "\0".repeat(216)), null],
  ["fields that mean nothing here", binary(0x21, 0x11, `${V4}${field(1, "h2")}${field(0xea, "vpce")}`), "192.0.2.1 443"],
  ["a checksum", withChecksum(`${V4}${field(4, "\0")}`), "192.0.2.1 443"],
];

for (const [why, bytes, end] of GOOD) {
  test(`a PROXY header: ${why}`, () => {
    const [address = "", port] = end?.split(" ") ?? [];
    const client = end === null ? null : { address, port: Number(port) };
    assert.deepEqual(read(bytes), { length: bytes.length, client });
    assert.deepEqual(read(`${bytes}GET / HTTP/1.1\r\n`), { length: bytes.length, client }, "what follows is not its business");
    for (let length = 0; length < bytes.length; length++) assert.equal(read(bytes.slice(0, length)), "incomplete", `${length} bytes`);
  });
}

const BAD: readonly (readonly [why: string, bytes: string])[] = [
  ["a request", "GET / HTTP/1.1\r\n"],
  ["a TLS handshake", "\x16\x03\x01"],
  ["lower case", "proxy TCP4"],
  ["another word", "PROXIED TCP4"],
  ["another transport", "PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n"],
  ["the wrong family", "PROXY TCP4 ::1 ::2 1 2\r\n"],
  ["two families", "PROXY TCP4 192.0.2.1 ::2 1 2\r\n"],
  ["an address with a leading zero", "PROXY TCP4 192.0.02.1 192.0.2.2 1 2\r\n"],
  ["a name", "PROXY TCP4 localhost 192.0.2.2 1 2\r\n"],
  ["a zone of IPv6", "PROXY TCP6 fe80::1%lo fe80::2 1 2\r\n"],
  ["a port with a leading zero", "PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n"],
  ["a port too large", "PROXY TCP4 192.0.2.1 192.0.2.2 65536 2\r\n"],
  ["a missing port", "PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n"],
  ["one word more", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n"],
  ["two spaces", "PROXY TCP4  192.0.2.1 192.0.2.2 1 2\r\n"],
  ["a line that ends in LF", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n"],
  ["control characters", "PROXY UNKNOWN \0\r\n"],
  ["a line without an end", `PROXY UNKNOWN ${"x".repeat(200)}`],
  ["a line one byte too long", `PROXY UNKNOWN ${"x".repeat(92)}\r\n`],
  ["a signature that goes wrong", "\r\n\r\n\0\r\nQUIX"],
  ["another version", binary(0x11, 0x11, V4)],
  ["another command", binary(0x22, 0x11, V4)],
  ["datagrams", binary(0x21, 0x12, V4)],
  ["an unknown family", binary(0x21, 0x41, V4)],
  ["addresses that are cut off", binary(0x21, 0x21, V4)],
  ["too many bytes", binary(0x21, 0x11, `${V4}${field(4, "x".repeat(PROXY_HEADER_BYTES_MAX))}`)],
  ["a field that is cut off", binary(0x21, 0x11, `${V4}\x04\x00\x05abc`)],
  ["half a field", binary(0x21, 0x11, `${V4}\x04`)],
  ["a wrong checksum", withChecksum(V4).replace(/.$/s, (byte) => (byte === "x" ? "y" : "x"))],
  ["a checksum of the wrong length", binary(0x21, 0x11, `${V4}${field(3, "abc")}`)],
];
for (const [why, bytes] of BAD) test(`no PROXY header: ${why}`, () => assert.equal(read(bytes), "malformed"));

test("CRC-32C matches the standard's example", () => assert.equal(crc32cOf(Buffer.from("123456789")), 0xe3069283));

test("property: every address survives encoding and decoding in both versions, and a changed byte never makes the reader read beyond the header", () => {
  const address = fc
    .oneof(fc.ipV4(), fc.ipV6())
    .map((text) => canonicalIp(text))
    .filter((text) => text !== undefined);
  fc.assert(
    fc.property(address, fc.nat(65_535), fc.nat(), fc.integer({ min: 0, max: 255 }), (ip, port, at, byte) => {
      const line = `PROXY TCP${ip.includes(":") ? 6 : 4} ${ip} ${ip} ${port} ${port}\r\n`;
      assert.deepEqual(read(line), { length: line.length, client: { address: ip, port } });
      for (const good of [line, withChecksum(V4), binary(0x21, 0x21, V6)]) {
        const bytes = Buffer.from(`${good}GET / HTTP/1.1\r\n\r\n`, "latin1");
        bytes[at % good.length] = byte;
        const header = readProxyHeader(bytes);
        if (typeof header !== "object") continue;
        assert.ok(header.length > 8 && header.length <= bytes.length);
        const { client } = header;
        assert.ok(client === null || (canonicalIp(client.address) === client.address && client.port <= 65_535));
      }
    }),
    { numRuns: 2000 },
  );
});

test("property: any bytes give a header, a wait or a refusal, and a header of maximum length never gives a wait", () => {
  const start = fc.constantFrom("", "PROXY ", "PROXY TCP4 ", SIGNATURE, `${SIGNATURE}\x21\x11`);
  fc.assert(
    fc.property(start, fc.string({ unit: "binary-ascii", maxLength: 300 }), (prefix, rest) => {
      const bytes = Buffer.concat([Buffer.from(`${prefix}${rest}`, "latin1"), Buffer.alloc(PROXY_HEADER_BYTES_MAX)]);
      assert.notEqual(readProxyHeader(bytes), "incomplete");
    }),
    { numRuns: 3000 },
  );
});
