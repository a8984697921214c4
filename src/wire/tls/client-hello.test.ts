import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { connect, type ConnectionOptions } from "node:tls";
import { fc } from "../../../test/support/property.ts";
import { CLIENT_HELLO_BYTES_MAX, readClientHello } from "./client-hello.ts";

/** The first flight of Node's own client. */
async function firstFlight(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const arrived = once(server, "connection");
  const client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", ...options });
  client.on("error", () => undefined);
  const [socket] = await arrived;
  const [bytes] = await once(socket, "data");
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

const extension = (type: number, body: Buffer): Buffer => Buffer.concat([uint16(type), uint16(body.length), body]);
const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const sized = (body: Buffer): Buffer => Buffer.concat([uint16(body.length), body]);
const nameList = (...names: readonly string[]): Buffer =>
  extension(0, sized(Buffer.concat(names.map((name) => Buffer.concat([Buffer.from([0]), sized(Buffer.from(name, "latin1"))])))));

/** A hello with these extensions, in records of at most so many bytes. */
function hello(extensions: readonly Buffer[], recordBytesMax = 16_384): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 1),
    Buffer.from([0]),
    sized(Buffer.from([0x13, 1])),
    Buffer.from([1, 0]),
    sized(Buffer.concat(extensions)),
  ]);
  const message = Buffer.concat([Buffer.from([1, 0]), uint16(body.length), body]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytesMax)
    records.push(Buffer.concat([Buffer.from([22, 3, 1]), sized(message.subarray(at, at + recordBytesMax))]));
  return Buffer.concat(records);
}

test("the parser finds the server name in the ClientHello of a real client, and no tickets", async () => {
  const plain = await firstFlight({ servername: "www.example.com" });
  assert.deepEqual(readClientHello(plain), { serverName: "www.example.com", ticketKeyNames: [] });
  assert.deepEqual(readClientHello(await firstFlight({ servername: "", maxVersion: "TLSv1.2" })), {
    serverName: null,
    ticketKeyNames: [],
  });
});

test("the parser finds the key names of TLS 1.2 and 1.3 tickets", () => {
  const ticket = Buffer.concat([Buffer.alloc(16, "n"), Buffer.alloc(80, "t")]);
  const identity = Buffer.concat([sized(ticket), Buffer.alloc(4)]);
  const psk = extension(41, Buffer.concat([sized(Buffer.concat([identity, identity])), sized(Buffer.from([1, 0]))]));
  const name = Buffer.alloc(16, "n");
  assert.deepEqual(readClientHello(hello([nameList("a.example"), extension(35, ticket)])), {
    serverName: "a.example",
    ticketKeyNames: [name],
  });
  assert.deepEqual(readClientHello(hello([extension(35, Buffer.alloc(0)), psk])), { serverName: null, ticketKeyNames: [name, name] });
});

test("a ClientHello may arrive in several records and in any chunks", () => {
  for (const bytesMax of [16_384, 40, 20]) {
    const bytes = hello([nameList("www.example.com")], bytesMax);
    for (let end = 0; end < bytes.length; end++)
      assert.equal(readClientHello(bytes.subarray(0, end)), "incomplete", `${end} of ${bytesMax}`);
    assert.deepEqual(readClientHello(bytes), { serverName: "www.example.com", ticketKeyNames: [] });
  }
});

test("a ClientHello that no server could answer is malformed at once", () => {
  const good = hello([nameList("www.example.com")]);
  const changed = (at: number, value: number): Buffer => {
    const bytes = Buffer.from(good);
    bytes[at] = value;
    return bytes;
  };
  const bad: Readonly<Record<string, Buffer>> = {
    "plain HTTP": Buffer.from("GET / HTTP/1.1\r\n"),
    "SSL 2.0": Buffer.from([0x80, 0x2e, 1, 3, 1]),
    "another record": changed(0, 23),
    "another version": changed(1, 2),
    "another message": changed(5, 2),
    "an empty record": Buffer.from([22, 3, 1, 0, 0]),
    "a message without end": Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]),
    "a record a byte long, again and again": Buffer.concat(
      Array.from({ length: 40 }, (_, i) => Buffer.from([22, 3, 1, 0, 1, i === 0 ? 1 : i === 2 ? 8 : 0])),
    ),
    "two lists of names": hello([nameList("a.example"), nameList("a.example")]),
    "two names": hello([nameList("a.example", "b.example")]),
    "an empty name": hello([nameList("")]),
    "a list that leads past its end": hello([extension(0, Buffer.from([0, 9, 0, 0, 1, 97]))]),
    "an extension that leads past the end": hello([Buffer.from([0, 0, 0, 9])]),
    "a session id that leads past the end": changed(5 + 4 + 2 + 32, 255),
  };
  for (const [what, bytes] of Object.entries(bad)) assert.equal(readClientHello(bytes), "malformed", what);
});

test("property: any bytes are parsed or refused, within the size limit", () => {
  const good = hello([nameList("www.example.com"), extension(35, Buffer.alloc(100))]);
  const damaged = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }).map((changes) => {
    const bytes = Buffer.from(good);
    for (const [at, value] of changes) bytes[at] = value;
    return bytes;
  });
  const any = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.oneof(damaged, any), fc.nat(200), (bytes, filler) => {
      const read = readClientHello(bytes);
      if (read === "incomplete")
        assert.notEqual(readClientHello(Buffer.concat([bytes, Buffer.alloc(2 * CLIENT_HELLO_BYTES_MAX, filler)])), "incomplete");
      else assert.ok(read === "malformed" || read.serverName !== "");
    }),
    { numRuns: 2000 },
  );
});
